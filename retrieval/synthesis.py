"""Writing memories as one text for a prompt: a numbered list, strictly within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC

from memoryproject import cleaning, tokens
from retrieval import fencing
from retrieval.fencing import Fence
from retrieval.memories import Whole

TITLE = "## Retrieved Memories"
BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Synthesis:
    """The text, its size, and the memories that it holds, in order."""

    text: str
    tokens: int
    held: tuple[Whole, ...]


def synthesize(
    memories: Sequence[Whole], *, max_tokens: int | None = None, fence: Fence | None = None
) -> Synthesis:
    """Return the memories as markdown, in order, numbered from 1; of none an empty text.

    With `max_tokens` a memory that does not fit any more is left out whole, and shorter
    ones behind it may still find room. With `fence` the text stands between its marks, which
    count.
    """
    parts = [TITLE]
    held: list[Whole] = []
    room = None
    if max_tokens is not None:
        room = 4 * fencing.room_in(max_tokens, fence) - tokens.count_quarters(TITLE)
    for memory in memories:
        entry = _write(memory, number=len(held) + 1)
        if room is not None:
            size = tokens.count_quarters(entry) + tokens.count_quarters(BETWEEN)
            if size > room:
                continue
            room -= size
        parts.append(entry)
        held.append(memory)
    text = fencing.wrap(BETWEEN.join(parts) if held else "", fence)
    return Synthesis(text, tokens.count_tokens(text), tuple(held))


def _write(memory: Whole, *, number: int) -> str:
    """Return one entry. Its content is indented, so that none can pass for another entry."""
    start = f"{number}. "
    content = cleaning.clean_block(memory.content.strip())
    lines = [line.rstrip() for line in content.splitlines()]
    told = ["", *(f"{' ' * len(start)}{line}" if line else "" for line in lines)]
    return f"{start}{_describe(memory)}" + "\n".join(told)


def _describe(memory: Whole) -> str:
    """Return the line above a content: which memory it is, of when, about whom, how felt."""
    feeling = [memory.emotion_type, memory.emotion_valence]
    parts = [
        memory.kind.value,
        f"{memory.at.astimezone(UTC):%Y-%m-%d %H:%M}",
        memory.category,
        f"importance {memory.importance:.2f}",
        " ".join(part for part in feeling if part),
        f"user {memory.user_id}" if memory.user_id else "",
    ]
    told = ", ".join(cleaning.clean_line(" ".join(part.split())) for part in parts if part)
    return f"[{memory.id}] {told}"
