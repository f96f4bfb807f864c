"""Titles of 5 to 15 words: who spoke, and the phrases or the sentence that carry the talk."""

from __future__ import annotations

from collections.abc import Sequence

from episodic import discourse_cues as cues
from episodic.engines import Line, Vectors
from episodic.offline_phrases import best_phrases
from episodic.offline_summaries import rank_sentences, split_sentences, weigh_lines
from episodic.text_sizes import clip_words, count_words, is_spaceless

FEWEST_TITLE_WORDS = 5
MOST_TITLE_WORDS = 15
MOST_PHRASES = 5
_USUAL_PHRASES = 3
_PHRASES_BEFORE_A_SENTENCE = 2
_WISH_WITHIN = 4
_MOST_SPEAKERS = 3
_MOST_SPEAKER_WORDS = 6
_ROLES = {"user": "the user", "assistant": "the assistant", "tool": "a tool"}
_SPACELESS_ROLES = {"user": "用户", "assistant": "助手", "tool": "工具", "system": "系统"}


def compose_title(lines: Sequence[Line], vectors: Vectors, *, window: Sequence[Line]) -> str:
    """Return a title for these lines of the `window`; never empty.

    Speakers with names come first; without names the topic and the first wish do.
    """
    if is_spaceless(" ".join(line.content for line in lines)):
        return _title_without_spaces(lines, vectors)
    named = any(line.name for line in lines)
    speakers = join_words(name_speakers(lines, _ROLES))
    prefix = f"{clip_words(speakers, _MOST_SPEAKER_WORDS)}: " if named else ""
    room = MOST_TITLE_WORDS - count_words(prefix)
    phrases = _phrases(lines, vectors, window, prefix if named else None)
    first = "" if named or not phrases else f"{phrases}: {_first_wish(lines)}"
    for topic in (first, phrases, _sentence(lines, vectors)):
        title = prefix + clip_words(topic, room).rstrip(" .,;:")
        if topic and count_words(title) >= FEWEST_TITLE_WORDS:
            return title[:1].upper() + title[1:]
    return _pad_title(lines, _sentence(lines, vectors))


def name_speakers(lines: Sequence[Line], roles: dict[str, str]) -> list[str]:
    """Return who spoke, in order, at most three entries, the last then "others"."""
    names = list(dict.fromkeys(line.name or roles.get(line.role, line.role) for line in lines))
    if len(names) > _MOST_SPEAKERS:
        return [*names[: _MOST_SPEAKERS - 1], "others"]
    return names


def join_words(parts: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _phrases(
    lines: Sequence[Line], vectors: Vectors, window: Sequence[Line], prefix: str | None
) -> str:
    """Return as many phrases as make a title behind the prefix; two where none is given."""
    weights = weigh_lines(lines, vectors)
    phrases = best_phrases(lines, weights=weights, window=window, at_most=MOST_PHRASES)
    if prefix is None:
        return join_words(phrases[:_PHRASES_BEFORE_A_SENTENCE])
    for count in range(_USUAL_PHRASES, MOST_PHRASES + 1):
        topic = join_words(phrases[:count])
        if topic and count_words(prefix + topic) >= FEWEST_TITLE_WORDS:
            return topic
    return ""


def _first_wish(lines: Sequence[Line]) -> str:
    """Return the longest sentence of the user's first line: what he came for.

    "Can I help you?" is no wish: the next sentence that says something is taken instead.
    """
    asked = next((line for line in lines if line.role == "user"), lines[0])
    wish = max(split_sentences(asked.content), key=len, default="")
    if says_something(wish):
        return wish
    after = (text for line in lines[1:_WISH_WITHIN] for text in split_sentences(line.content))
    return next(filter(says_something, after), wish)


def says_something(text: str) -> bool:
    """Are there two content words?"""
    return len(cues.content_words(text)) > 1


def _sentence(lines: Sequence[Line], vectors: Vectors) -> str:
    ranked = rank_sentences(lines, vectors)
    return ranked[0].text if ranked else " ".join(" ".join(line.content for line in lines).split())


def _pad_title(lines: Sequence[Line], said: str) -> str:
    """Say at least who spoke, where the words alone do not make a title."""
    names = name_speakers(lines, _ROLES)
    kind = "Short exchange between" if len(names) > 1 else "Short message written by"
    start = f"{kind} {clip_words(join_words(names), _MOST_SPEAKER_WORDS)}"
    if not said:
        return f"{start}, without words"
    return f"{start}: {clip_words(said, MOST_TITLE_WORDS - count_words(start))}"


def _title_without_spaces(lines: Sequence[Line], vectors: Vectors) -> str:
    named = any(line.name for line in lines)
    speakers = clip_words("、".join(name_speakers(lines, _SPACELESS_ROLES)), _MOST_SPEAKER_WORDS)
    said = _sentence(lines, vectors)
    prefix = f"{speakers}：" if named else ""
    title = prefix + clip_words(said, MOST_TITLE_WORDS - count_words(prefix)).rstrip("。！，、 ")
    if count_words(title) >= FEWEST_TITLE_WORDS:
        return title
    start = f"{speakers}の短い会話：" if _has_kana(lines) else f"{speakers}的简短对话记录："
    return start + clip_words(said, MOST_TITLE_WORDS - count_words(start))


def _has_kana(lines: Sequence[Line]) -> bool:
    return any("\u3040" <= character <= "\u30ff" for line in lines for character in line.content)
