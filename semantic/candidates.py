"""Turns the lines of an episode into candidate facts, one or two a message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from episodic.engines import Line
from episodic.time_anchors import anchor_times
from semantic import chinese, informative
from semantic.categories import classify_fact
from semantic.claims import Slot
from semantic.contrasts import names_state
from semantic.corrections import Correction, find_correction, is_cued, only_cues, strip_cue
from semantic.echoes import Echoes
from semantic.engines import Category
from semantic.gist import (
    LEAST_INFORMATIVE,
    MOST_CHARACTERS,
    join_sentences,
    name_speaker,
    pick_gist,
    shorten,
)
from semantic.guidelines import find_chinese_guideline, find_guideline
from semantic.keywords import pick_keywords
from semantic.pronouns import find_spoken_of, name_pronoun
from semantic.readings import QUOTED, Reading, read_fact
from semantic.relations import LASTING
from semantic.remainders import LEANING
from semantic.replacing import CHANGING
from semantic.sentences import Script, detect_script, split_captions, split_sentences
from semantic.speakers import Speaker, find_company, identify_speaker
from semantic.third_person import add_subject, to_third_person

CHARACTERS_AT_MOST = 4_000
"""Read of one message. What people tell of themselves is short; a pasted book would hold a
worker for minutes, and its words are found all the same."""
LEAST_IN_ADDITION = 1.0
"""What a sentence must tell that only accompanies a better one of its message."""
LEAST_ALONE = 1.5
"""The same for a message that is one first-person sentence: "I have a motorbike"."""
MOST_OF_ONE = 20
"""Facts of one message: each is compared with all that are held."""
# An assistant's chat is advice; only what it did or promised is worth a fact.
ASSISTANT_DEED = re.compile(
    r"^(?:sure[,!.] |ok[,!.] |okay[,!.] |done[,!.] )?(?:I(?:'ve| have)?|I'll|I will) (?:just |"
    r"now |also )?(?:recommend(?:ed)?|suggested|booked|sent|"
    r"created|scheduled|reserved|ordered|remind(?: you)?|wrote|updated|added|deleted|fixed|set "
    r"up|saved|cancelled)\b",
    re.IGNORECASE,
)
STATEMENT = re.compile(r"^(?:I|I'm|I've|my|we|we're|we've|our)\b", re.IGNORECASE)
OWN_WORD = re.compile(r"[我咱私僕俺]")
STATED_SLOTS = LASTING | {Slot.EVENT}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact that a message may support, with what is needed to place it.

    An `echo` only says what an answer had told the agent: it is no news and no evidence.
    A `minor` one tells too little to be a fact by itself, unless it changes one that is
    held; the `sentences` of one that joins several may have been minor ones before.
    """

    fact: str
    category: Category
    keywords: tuple[str, ...]
    reading: Reading
    speaker: str
    line: Line
    episode: int
    correction: Correction | None = None
    echo: bool = False
    minor: bool = False
    sentences: tuple[str, ...] = ()
    topic: str = ""


def find_candidates(
    lines: Sequence[Line], *, names: frozenset[str], episode: int, echoes: Echoes
) -> list[Candidate]:
    """Return the candidates of one episode in the order they were said.

    `names` are the named people of the whole run: with exactly two of them "you"
    has a name.
    """
    return [
        candidate
        for at, line in enumerate(lines)
        for candidate in islice(
            _from_line(
                line,
                names=names,
                episode=episode,
                echoes=echoes,
                before=find_spoken_of(lines, at),
            ),
            MOST_OF_ONE,
        )
    ]


def make_candidate(
    fact: str,
    *,
    speaker: str,
    line: Line,
    episode: int,
    correction: Correction | None = None,
    topic: str = "",
    turns: bool = False,
) -> Candidate:
    """Return `fact` with its category, keywords and claims; "it" in it is the `topic`.

    `turns` says that it was said as a correction.
    """
    reading = read_fact(fact, speaker=speaker, topic=topic, turns=turns)
    return Candidate(
        fact=fact,
        category=classify_fact(reading),
        keywords=pick_keywords(fact, speaker=speaker),
        reading=reading,
        speaker=speaker,
        line=line,
        episode=episode,
        correction=correction,
        topic=topic,
    )


def _from_line(
    line: Line, *, names: frozenset[str], episode: int, echoes: Echoes, before: str
) -> Iterator[Candidate]:
    """Yield guidelines, plain statements of a slot, then the message's own gist.

    A sentence that is an echo stands alone, so that the gist holds only what is new; one
    that would have been no fact by itself is left out.
    """
    if line.role not in {"user", "assistant"}:
        return
    text, _ = split_captions(line.content[:CHARACTERS_AT_MOST])
    script = detect_script(text)
    speaker = identify_speaker(line, names=names, script=script)
    gist: list[tuple[float, str]] = []
    company = find_company(text, speaker.name)
    sentences = split_sentences(text)
    for at, spoken in enumerate(sentences):
        sentence = name_pronoun(spoken, before=f"{before} {' '.join(sentences[:at])}")
        topic = " ".join(sentences[max(at - 2, 0) : at])
        made = _plain_candidate(sentence, line=line, speaker=speaker, episode=episode, topic=topic)
        if made is not None:
            yield replace(made, echo=echoes.find_origin(made.fact, line=line) is not None)
            continue
        if only_cues([sentence]):
            continue
        value, fact = _judge_sentence(
            strip_cue(sentence),
            speaker=speaker,
            names=names,
            company=company,
            message=script,
            alone=len(sentences) == 1,
        )
        if not fact:
            minor = _find_change(
                sentence, line=line, speaker=speaker, names=names, episode=episode, topic=topic
            )
            if minor is not None:
                yield minor
            continue
        stated = _state(
            fact, sentence, line=line, speaker=speaker, episode=episode, echoes=echoes, topic=topic
        )
        leans = LEANING.match(sentence) is not None and at > 0
        states = not leans and bool({c.slot for c in stated.reading.claims} & STATED_SLOTS)
        if states or stated.correction is not None or (stated.echo and value >= LEAST_INFORMATIVE):
            yield stated
        elif not stated.echo:
            if _may_change(stated.reading):
                yield replace(stated, minor=True)
            gist.append((value, stated.fact))
    told = pick_gist(gist)
    if told:
        fact = name_speaker(join_sentences(told), speaker=speaker.name)
        made = make_candidate(fact, speaker=speaker.name, line=line, episode=episode)
        yield replace(made, sentences=tuple(told))


def _state(
    fact: str,
    sentence: str,
    *,
    line: Line,
    speaker: Speaker,
    episode: int,
    echoes: Echoes,
    topic: str,
) -> Candidate:
    """Return what a sentence says as a candidate: an echo, a correction, or neither."""
    said = anchor_times(fact, at=line.at)
    echo = _find_echo(said, sentence, line=line, echoes=echoes)
    made = make_candidate(
        echo or said,
        speaker=speaker.name,
        line=line,
        episode=episode,
        topic=topic,
        turns=is_cued(sentence, before=topic),
    )
    correction = find_correction(sentence, before=topic) if speaker.is_person and not echo else None
    return replace(made, correction=correction, echo=bool(echo))


def _find_echo(fact: str, sentence: str, *, line: Line, echoes: Echoes) -> str:
    """Return the fact, or the sentence behind it, that only repeats an answer; "" if neither.

    Said of somebody else, a sentence stands for itself: to put the speaker into it may
    have made it another.
    """
    is_own = informative.FIRST_PERSON.search(sentence) or OWN_WORD.search(sentence)
    told = (fact,) if is_own else (fact, sentence)
    return next((text for text in told if echoes.find_origin(text, line=line)), "")


def _plain_candidate(
    sentence: str, *, line: Line, speaker: Speaker, episode: int, topic: str
) -> Candidate | None:
    """Return a guideline, or a correction that is too short to be a fact itself."""
    is_chinese = chinese.HAN.search(sentence) is not None
    if line.role == "user":
        rule = (
            find_chinese_guideline(sentence, speaker=speaker.name)
            if is_chinese
            else find_guideline(
                sentence, speaker=speaker.name, among_people=speaker.listener != "Assistant"
            )
        )
        if rule is not None:
            made = make_candidate(rule, speaker=speaker.name, line=line, episode=episode)
            return replace(made, category=Category.GUIDELINE)
    correction = find_correction(sentence, before=topic) if speaker.is_person else None
    own = informative.FIRST_SUBJECT.search(sentence) or "我" in sentence
    if correction is None or own:
        return None
    fact = to_third_person(sentence, speaker=speaker.name) if not is_chinese else sentence
    return make_candidate(
        fact,
        speaker=speaker.name,
        line=line,
        episode=episode,
        correction=correction,
        topic=topic,
    )


def _find_change(
    sentence: str,
    *,
    line: Line,
    speaker: Speaker,
    names: frozenset[str],
    episode: int,
    topic: str,
) -> Candidate | None:
    """Return a sentence that tells too little of itself, but may change what is held."""
    bare = informative.strip_filler(strip_cue(sentence), names=names)
    if not speaker.is_person or not bare or informative.is_question(sentence):
        return None
    if chinese.HAN.search(bare):
        fact = chinese.to_third_person(bare, speaker=speaker.name, listener=speaker.listener)
    elif informative.HYPOTHETICAL.search(bare) or informative.SECOND_PERSON.search(bare):
        return None
    else:
        own = add_subject(bare, speaker=speaker.name)
        fact = to_third_person(own, speaker=speaker.name, listener=speaker.listener)
    named = name_speaker(anchor_times(shorten(fact), at=line.at), speaker=speaker.name)
    made = make_candidate(
        named,
        speaker=speaker.name,
        line=line,
        episode=episode,
        topic=topic,
        turns=is_cued(sentence, before=topic),
    )
    return replace(made, minor=True) if _may_change(made.reading) else None


def _may_change(reading: Reading) -> bool:
    """Whether a sentence says that something is over or has another value."""
    ends = any(claim.slot is Slot.ENDING for claim in reading.claims)
    turned = reading.turns or CHANGING.search(reading.text) is not None
    return ends or turned or names_state(reading.text)


def _judge_sentence(
    sentence: str,
    *,
    speaker: Speaker,
    names: frozenset[str],
    company: str,
    message: Script,
    alone: bool,
) -> tuple[float, str]:
    """Return how much a sentence tells and what it says in the third person; "" if too little.

    `message` is the script of the whole message: a short sentence shows too little of
    it. `alone` says that the message has no other sentence.
    """
    script = detect_script(sentence)
    script = message if script is Script.OTHER else script
    if script is Script.CHINESE:
        heard = informative.HEARSAY.search(sentence) is not None
        if heard or not speaker.is_person or not chinese.is_worth_keeping(sentence):
            return 0.0, ""
        fact = chinese.to_third_person(sentence, speaker=speaker.name, listener=speaker.listener)
        return float(len(fact)), fact[:MOST_CHARACTERS]
    if script is not Script.ENGLISH:
        return _judge_other_language(sentence, speaker=speaker, script=script)
    if informative.is_question(sentence) or informative.HEARSAY.search(sentence):
        return 0.0, ""
    called = frozenset(n for name in names for n in (name, name[:3]))
    bare = informative.strip_filler(sentence, names=called)
    if not bare or informative.HYPOTHETICAL.search(bare):
        return 0.0, ""
    if not speaker.is_person and not ASSISTANT_DEED.match(bare):
        return 0.0, ""
    if not speaker.listener and informative.SECOND_PERSON.search(bare):
        return 0.0, ""
    own = add_subject(bare, speaker=speaker.name)
    value = informative.informativeness(bare)
    fact = _rewrite(own, speaker=speaker, company=company)
    if _states_a_slot(bare, fact) or (alone and STATEMENT.match(bare) and value >= LEAST_ALONE):
        value = max(value, LEAST_INFORMATIVE)
    if value < LEAST_IN_ADDITION:
        return 0.0, ""
    return value, shorten(fact)


def _rewrite(sentence: str, *, speaker: Speaker, company: str) -> str:
    """Return a sentence in the third person; what it quotes stays as it was said."""
    quotes = QUOTED.findall(sentence)
    rewritten = to_third_person(
        QUOTED.sub("@@", sentence),
        speaker=speaker.name,
        listener=speaker.listener,
        company=company,
    )
    for quote in quotes:
        rewritten = rewritten.replace("@@", quote, 1)
    return rewritten


def _states_a_slot(sentence: str, fact: str) -> bool:
    """Whether a short first-person sentence is kept for its slot ("I'm 30")."""
    if informative.THANKS_OR_PRAISE.search(sentence) is not None:
        return False
    if sentence.startswith("The "):
        return any(c.slot in {Slot.EVENT, Slot.ENDING} for c in read_fact(fact).claims)
    own = informative.FIRST_SUBJECT.search(sentence) is not None
    return own and any(c.value or c.slot is Slot.STATUS for c in read_fact(fact).claims)


def _judge_other_language(sentence: str, *, speaker: Speaker, script: Script) -> tuple[float, str]:
    """Keep a longer statement as it was said, behind the speaker's name."""
    words = len(sentence) / 4 if script is Script.JAPANESE else len(sentence.split())
    if not speaker.is_person or informative.is_question(sentence) or words < 4:
        return 0.0, ""
    if script is Script.JAPANESE:
        said = re.sub(r"^(?:私|僕|俺|わたし|ぼく)(?:は|も)?、?", "", sentence)
        said = re.sub(r"私|僕|俺|わたし", speaker.name, said)
        if re.search(
            r"(?:か|かな|ね？|の？|ください(?:ね)?)[。！]*$|^(?:こんにち|ありがと|よろしく|"
            r"確かに|はい|そうです|なるほど)",
            said,
        ):
            return 0.0, ""
        return words, f"{speaker.name}は{said}"[:MOST_CHARACTERS]
    return float(words), f"{speaker.name}: {shorten(sentence)}"
