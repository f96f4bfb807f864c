"""Corrects a fact: replaces a wrong sentence by a curator's."""

import uuid
from collections.abc import Sequence

from django.db import transaction

from episodic.models import Conversation, Message
from indexing import services as index
from memoryproject.edge.errors import Conflict, Problem, get_row
from memoryproject.wings import list_wings
from semantic import curation, queries
from semantic.engines import LABEL_MARK, Category, fact_embedding_text
from semantic.keywords import pick_keywords
from semantic.models import Changeset, CorrectionMark, Fact
from semantic.services import NewFact, replace_fact

CORRECTED = "corrected"
"""Note of a correction."""


def correct_fact(
    *,
    act: curation.Act,
    fact_id: uuid.UUID,
    sentence: str,
    category: str | None = None,
    keywords: Sequence[str] | None = None,
    version: int | None = None,
) -> Fact:
    """Close a fact as wrong and open a better one; return the new one.

    Its evidence is the curator's act, and the messages that do not contradict the new sentence. The
    `marks` wing marks the places that still state the old one.

    Without a category the old one is kept; keywords come from the sentence. With `version`, nothing
    is done if the fact is no longer at that version. If only category or keywords change, the old
    fact is marked superseded, not wrong.

    Raises:
        NotFound: the tenant has no such fact.
        Conflict: it is not active, has changed, is right as it is, or the new sentence is active as
            another fact.
        Problem: no reason, no sentence of at most 1,000 characters, or odd keywords.
    """
    sentence = _clean_sentence(sentence)
    fact = get_row(Fact.objects.of(act.tenant), "fact", id=fact_id)
    kind = Category(category or fact.category)
    words = _clean_keywords(keywords) if keywords is not None else _keep(fact, sentence)
    text = fact_embedding_text(kind, sentence, words)
    (vector,) = index.try_embed([text])
    with transaction.atomic():
        versions = {} if version is None else {fact_id: version}
        ((conversation, (fact,)),) = curation.lock_facts(act, [fact_id], versions)
        is_same = _check_sentence(fact, sentence, conversation)
        if (fact.fact, fact.category, fact.keywords) == (sentence, kind, list(words)):
            raise Conflict("The fact says just this already.")
        ledger = curation.open_ledger(act, conversation)
        for wing in list_wings():
            wing.on_retired(fact, ledger.changeset, sentence)
        row = Fact(category=kind, fact=sentence, keywords=list(words), valid_at=fact.valid_at)
        row.user_id = fact.user_id
        support = curation.support_of(fact, without=_find_contradicted(ledger.changeset))
        # If the words are the same, they were not wrong, and may be learned again.
        because = Fact.Because.SUPERSEDED if is_same else Fact.Because.WRONG
        new = NewFact(row, support, vector)
        corrected = replace_fact(fact, new, ledger=ledger, because=because, note=CORRECTED)
        ledger.close()
    return corrected


def _find_contradicted(changeset: Changeset) -> set[tuple[uuid.UUID, int]]:
    """Return the messages that a changeset marked, by conversation and seq."""
    marks = CorrectionMark.objects.of(changeset.tenant).filter(changeset=changeset)
    messages = Message.objects.of(changeset.tenant).filter(id__in=marks.values("place_id"))
    return set(messages.values_list("conversation_id", "seq"))


def _check_sentence(fact: Fact, sentence: str, conversation: Conversation) -> bool:
    """Return whether a fact says a sentence already, in these words.

    Raises:
        Conflict: the fact is not active, or another active one says it.
    """
    if fact.invalid_at is not None:
        raise Conflict("The fact is not active: look at it again.")
    same = queries.find_active(conversation=conversation, fact=sentence)
    if same is not None and same.id != fact.id:
        raise Conflict(f"Fact {same.id} says so already.")
    return same is not None


def _clean_sentence(sentence: str) -> str:
    """Return the sentence on one line: answers are lists of facts, a line each."""
    cleaned = " ".join(sentence.split())
    if not cleaned or len(cleaned) > curation.SENTENCE_AT_MOST or "\x00" in cleaned:
        message = f"Write one sentence of at most {curation.SENTENCE_AT_MOST} characters."
        raise Problem(message, fields={"fact": [message]})
    return cleaned


def _clean_keywords(keywords: Sequence[str]) -> tuple[str, ...]:
    cleaned = tuple(dict.fromkeys(" ".join(word.split()) for word in keywords if word.strip()))
    too_long = any(len(word) > curation.KEYWORD_AT_MOST or "\x00" in word for word in cleaned)
    if len(cleaned) > curation.KEYWORDS_AT_MOST or too_long:
        many, long = curation.KEYWORDS_AT_MOST, curation.KEYWORD_AT_MOST
        message = f"At most {many} keywords of at most {long} characters."
        raise Problem(message, fields={"keywords": [message]})
    return cleaned


def _keep(fact: Fact, sentence: str) -> tuple[str, ...]:
    """Return labels and the old keywords that the new sentence still contains, and its own."""
    text = sentence.casefold()
    words = [word for word in fact.keywords if word[:1] == LABEL_MARK or word.casefold() in text]
    folded = {word.casefold() for word in words}
    own = [word for word in pick_keywords(sentence, speaker="") if word.casefold() not in folded]
    return tuple(dict.fromkeys([*words, *own]))[: curation.KEYWORDS_AT_MOST]
