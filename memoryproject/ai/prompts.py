"""Loads prompts from files, fences quoted text in them, and fits it into the context.

A prompt's room is what the model's context leaves beside the instructions, the form of the answer
and the answer. Material that does not fit is spread over several questions; only a single line that
is too long for its share loses its middle, and the call's record says how much.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path

import pydantic
from django.conf import settings
from django.utils.crypto import salted_hmac

from memoryproject.ai import context
from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.dialects import Prompt
from memoryproject.ai.llm import strict_schema
from memoryproject.text.cleaning import drop_unseen

SAFETY = 0.9
"""Share of the context that is used: the model's tokenizer may count more than ours."""
REMINDER_TOKENS = 300
LEAST_ROOM = 400
"""Smallest room, whatever the settings say: less holds no conversation."""
CUT = " […] "
EXAMPLE_NAMES = ("qvenja", "zbrolk", "wuxolo", "tharnokk", "plimvar", "kroyd")
"""Names in the prompts' examples, case-folded. No real person has them, so they show that a small
model has copied the example."""


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def build_prompt(
    *,
    file: Path,
    material: str,
    scope: str,
    reminder: str = "",
    addition: str = "",
    **counts: int,
) -> Prompt:
    """Return a prompt with instructions and purpose from `file`, and `material` as its data.

    `addition` is what the tenant's operator adds to the instructions.

    The fence is a line that no outsider can know: it is derived from the `scope`, the
    conversation's id, with a secret of the server. So a repeated question has exactly the same
    text, and the questions of a conversation begin alike, which lets a server cache them. The
    version is the instructions' hash. A `reminder` is ours and comes after the fence; `counts` are
    the prompt's `left_out` and `lines`.
    """
    nonce = salted_hmac(file.stem, scope, secret=settings.KEY_PEPPER, algorithm="sha256")
    fence = f"=== {nonce.hexdigest()[:16]} ==="
    fenced = f"{fence}\n{material}\n{fence}"
    return Prompt(
        purpose=file.stem,
        version=find_version(file, addition),
        system=_read(file) + addition,
        user=f"{fenced}\n\n{reminder}" if reminder else fenced,
        **counts,
    )


def repeats_example(text: str, *, material: str) -> bool:
    """Return whether a model's text has a name of an example that is not in the material."""
    folded = text.casefold()
    copied = [name for name in EXAMPLE_NAMES if name in folded]
    return bool(copied) and not any(name in material.casefold() for name in copied)


def find_version(file: Path, addition: str = "") -> str:
    """Return a prompt's name and the hashes of its words and of an operator's addition."""
    hashes = [hashlib.sha256(words.encode()).hexdigest()[:8] for words in (_read(file), addition)]
    return "-".join([file.stem, *hashes] if addition else [file.stem, hashes[0]])


def find_room(*, file: Path, reply: type[pydantic.BaseModel], addition: str = "") -> int:
    """Return how many tokens of material fit into one question."""
    size = round(context.find_context() * SAFETY)
    taken = context.find_answer_tokens() + REMINDER_TOKENS + _overhead(file, reply)
    return max(LEAST_ROOM, size - taken - count_prompt_tokens(addition))


@cache
def _overhead(file: Path, reply: type[pydantic.BaseModel]) -> int:
    return count_prompt_tokens(_read(file) + json.dumps(strict_schema(reply)))


def put_on_one_line(text: str) -> str:
    """Return a text on one line, so that it cannot look like another line of the prompt.

    Invisible characters are removed, so that the model reads what people read.
    """
    return " ".join(drop_unseen(text).splitlines())


def show_said(said: str, *, name: str, role: str) -> str:
    """Return speaker and text as a JSON string, which the text cannot end early.

    The role comes after a name, so that a tool cannot pose as a user of that name.
    """
    quoted = json.dumps(put_on_one_line(said), ensure_ascii=False)
    speaker = put_on_one_line(name)
    return f"{speaker} ({role}): {quoted}" if speaker else f"{role}: {quoted}"


def show_line(number: int, said: str, *, at: datetime, name: str, role: str) -> str:
    return f"{number} [{at:%a %Y-%m-%d %H:%M}] {show_said(said, name=name, role=role)}"


def shorten_line(text: str, *, tokens: int) -> tuple[str, int]:
    """Return a text on one line of about `tokens` at most, and how many characters it lost."""
    line = put_on_one_line(text)
    size = count_prompt_tokens(line)
    if size <= tokens:
        return line, 0
    kept = max(1, int(len(line) * tokens / size) // 2)
    return line[:kept] + CUT + line[-kept:], len(line) - 2 * kept


def split_line(text: str, *, tokens: int) -> list[str]:
    """Return a text as lines of about `tokens` at most; nothing is lost."""
    line = put_on_one_line(text)
    size = count_prompt_tokens(line)
    if size <= tokens:
        return [line]
    length = max(1, int(len(line) * tokens / size))
    return [line[start : start + length] for start in range(0, len(line), length)]


def fill(costs: Sequence[int], *, room: int) -> Iterator[slice]:
    """Yield consecutive groups that fit into the room; each has at least one item."""
    first, used = 0, 0
    for place, cost in enumerate(costs):
        if place > first and used + cost > room:
            yield slice(first, place)
            first, used = place, 0
        used += cost
    if costs:
        yield slice(first, len(costs))
