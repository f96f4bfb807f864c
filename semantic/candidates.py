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
from semantic.corrections import Correction, find_correction
from semantic.echoes import Echoes
from semantic.engines import Category
from semantic.guidelines import find_chinese_guideline, find_guideline
from semantic.keywords import pick_keywords
from semantic.relations import LASTING, Reading, read_fact
from semantic.sentences import Script, detect_script, split_captions, split_sentences
from semantic.speakers import Speaker, find_company, identify_speaker
from semantic.third_person import add_subject, to_third_person

CHARACTERS_AT_MOST = 4_000
"""Read of one message. What people tell of themselves is short; a pasted book would hold a
worker for minutes, and its words are found all the same."""
LEAST_INFORMATIVE = 2.2
LEAST_IN_ADDITION = 1.0
"""What a sentence must tell that only accompanies a better one of its message."""
LEAST_ALONE = 1.5
"""The same for a message that is one first-person sentence: "I have a motorbike"."""
MOST_OF_ONE = 20
"""Facts of one message: each is compared with all that are held."""
MOST_SENTENCES = 3
MOST_WORDS = 40
MOST_CHARACTERS = 200
"""Of a fact without spaces between words."""
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
STATED_SLOTS = LASTING | {Slot.EVENT, Slot.ENDING}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact that a message may support, with what is needed to place it.

    An `echo` only says what an answer had told the agent: it is no news and no evidence.
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


def find_candidates(
    lines: Sequence[Line], *, names: frozenset[str], episode: int, echoes: Echoes
) -> list[Candidate]:
    """Return the candidates of one episode in the order they were said.

    `names` are the named people of the whole run: with exactly two of them "you"
    has a name.
    """
    return [
        candidate
        for line in lines
        for candidate in islice(
            _from_line(line, names=names, episode=episode, echoes=echoes), MOST_OF_ONE
        )
    ]


def make_candidate(
    fact: str, *, speaker: str, line: Line, episode: int, correction: Correction | None = None
) -> Candidate:
    """Return `fact` with its category, keywords and claims."""
    reading = read_fact(fact)
    return Candidate(
        fact=fact,
        category=classify_fact(reading),
        keywords=pick_keywords(fact, speaker=speaker),
        reading=reading,
        speaker=speaker,
        line=line,
        episode=episode,
        correction=correction,
    )


def _from_line(
    line: Line, *, names: frozenset[str], episode: int, echoes: Echoes
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
    for sentence in sentences:
        made = _plain_candidate(sentence, line=line, speaker=speaker, episode=episode)
        if made is not None:
            yield replace(made, echo=echoes.find_origin(made.fact, line=line) is not None)
            continue
        value, fact = _judge_sentence(
            sentence,
            speaker=speaker,
            names=names,
            company=company,
            message=script,
            alone=len(sentences) == 1,
        )
        if not fact:
            continue
        stated = _state(fact, sentence, line=line, speaker=speaker, episode=episode, echoes=echoes)
        states = bool({c.slot for c in stated.reading.claims} & STATED_SLOTS)
        if states or stated.correction is not None or (stated.echo and value >= LEAST_INFORMATIVE):
            yield stated
        elif not stated.echo:
            gist.append((value, stated.fact))
    joined = _join_gist(gist)
    if joined:
        fact = _name_speaker(joined, speaker=speaker.name)
        yield make_candidate(fact, speaker=speaker.name, line=line, episode=episode)


def _state(
    fact: str, sentence: str, *, line: Line, speaker: Speaker, episode: int, echoes: Echoes
) -> Candidate:
    """Return what a sentence says as a candidate: an echo, a correction, or neither."""
    said = anchor_times(fact, at=line.at)
    echo = _find_echo(said, sentence, line=line, echoes=echoes)
    made = make_candidate(echo or said, speaker=speaker.name, line=line, episode=episode)
    correction = find_correction(sentence) if speaker.is_person and not echo else None
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
    sentence: str, *, line: Line, speaker: Speaker, episode: int
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
    correction = find_correction(sentence) if speaker.is_person else None
    own = informative.FIRST_SUBJECT.search(sentence) or "我" in sentence
    if correction is None or own:
        return None
    fact = to_third_person(sentence, speaker=speaker.name) if not is_chinese else sentence
    return make_candidate(
        fact, speaker=speaker.name, line=line, episode=episode, correction=correction
    )


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
        if not speaker.is_person or not chinese.is_worth_keeping(sentence):
            return 0.0, ""
        fact = chinese.to_third_person(sentence, speaker=speaker.name, listener=speaker.listener)
        return float(len(fact)), fact[:MOST_CHARACTERS]
    if script is not Script.ENGLISH:
        return _judge_other_language(sentence, speaker=speaker, script=script)
    if informative.is_question(sentence):
        return 0.0, ""
    called = frozenset(n for name in names for n in (name, name[:3]))
    bare = informative.strip_filler(sentence, names=called)
    if not bare or informative.HYPOTHETICAL.search(bare):
        return 0.0, ""
    if not speaker.is_person and not ASSISTANT_DEED.match(bare):
        return 0.0, ""
    if not speaker.listener and informative.SECOND_PERSON.search(bare):
        return 0.0, ""
    value = informative.informativeness(bare)
    fact = to_third_person(
        add_subject(bare, speaker=speaker.name),
        speaker=speaker.name,
        listener=speaker.listener,
        company=company,
    )
    if _states_a_slot(bare, fact) or (alone and STATEMENT.match(bare) and value >= LEAST_ALONE):
        value = max(value, LEAST_INFORMATIVE)
    if value < LEAST_IN_ADDITION:
        return 0.0, ""
    return value, _shorten(fact)


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
            r"(?:か|かな|ね？|の？|ください(?:ね)?)[。！]*$|^(?:こんにち|ありがと|よろしく|確かに|はい|そうです|なるほど)",
            said,
        ):
            return 0.0, ""
        return words, f"{speaker.name}は{said}"[:MOST_CHARACTERS]
    return float(words), f"{speaker.name}: {_shorten(sentence)}"


def _join_gist(gist: Sequence[tuple[float, str]]) -> str:
    """Return the most telling sentences of one message as one fact, in the order said.

    The best one decides whether there is a fact at all; others join it while there
    is room. A sentence of a slot has already been taken out.
    """
    order = sorted(range(len(gist)), key=lambda i: (-gist[i][0], i))
    if not order or gist[order[0]][0] < LEAST_INFORMATIVE:
        return ""
    taken: list[int] = []
    size = 0.0
    for index in order:
        size += _size(gist[index][1])
        if taken and (size > 1.0 or len(taken) == MOST_SENTENCES):
            break
        taken.append(index)
    ended = [_end_sentence(gist[index][1]) for index in sorted(taken)]
    return " ".join(ended).replace("。 ", "。")


def _size(text: str) -> float:
    """Return the share of a fact's room that `text` takes, 1.0 being all of it."""
    if chinese.HAN.search(text):
        return len(text) / MOST_CHARACTERS
    return len(text.split()) / MOST_WORDS


def _end_sentence(text: str) -> str:
    return text if text[-1] in ".!。！…" else f"{text}."


def _name_speaker(fact: str, *, speaker: str) -> str:
    """Return a fact that names the speaker: what names nobody is what they say."""
    if speaker in fact:
        return fact
    if chinese.HAN.search(fact):
        return f"{speaker}说{fact}"
    first = fact.split()[0]
    said = fact if first.isupper() or first[1:] != first[1:].lower() else fact[0].lower() + fact[1:]
    return f"{speaker} says that {said}"


def _shorten(fact: str) -> str:
    """Cut a sentence of more than 40 words at its last joint before them."""
    words = fact.split()
    if len(words) <= MOST_WORDS:
        return fact
    head = " ".join(words[:MOST_WORDS])
    joint = max(head.rfind(", "), head.rfind(" and "), head.rfind(" because "), head.rfind(" but "))
    return f"{head[:joint] if joint > len(head) // 2 else head}."
