"""Peek and chunk: a memory's description, and its text within a limit."""

import uuid
from dataclasses import dataclass, replace

from memoryproject.tenancy.models import Tenant
from memoryproject.text import cleaning, tokens
from memoryproject.text.cleaning import DEFANGED
from memoryproject.text.tokens import Counter
from retrieval.markdown import NO_FENCE, Fence
from retrieval.memory import Memory, load_memory
from retrieval.truncation import Strategy, cut
from wings.navigation import links

RELATED_AT_MOST = 200


@dataclass(frozen=True, slots=True)
class Peek:
    """What is known about a memory, without its text.

    `related_ids`: linked memories in both directions, each once, newest first; `related_cut`: there
    are more.
    """

    memory: Memory
    related_ids: tuple[uuid.UUID, ...]
    related_cut: bool
    counter: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A memory's text within a limit, its header included.

    `truncated`: part of the requested header or text is missing.
    """

    memory_id: uuid.UUID
    content: str
    token_count: int
    truncated: bool
    header: str | None
    counter: str
    fence: Fence = NO_FENCE


def peek(*, tenant: Tenant, memory_id: uuid.UUID, style: str = DEFANGED) -> Peek:
    """Return the description of a memory; it takes no budget. `style`: of links.

    Raises:
        NotFound: the tenant has no such memory, or it is a note that was deleted.
    """
    memory = load_memory(tenant=tenant, memory_id=memory_id, outline=True, style=style)
    edges = links.links_of(tenant=tenant, memory_id=memory_id, at_most=RELATED_AT_MOST + 1)
    return Peek(
        memory=memory,
        related_ids=tuple(dict.fromkeys(edge.other_id for edge in edges[:RELATED_AT_MOST])),
        related_cut=len(edges) > RELATED_AT_MOST,
        counter=tokens.in_use().name,
    )


def chunk(
    *,
    tenant: Tenant,
    memory_id: uuid.UUID,
    max_tokens: int,
    strategy: Strategy = Strategy.END,
    include_header: bool = False,
    fence: Fence = NO_FENCE,
    style: str = DEFANGED,
) -> Chunk:
    """Return a memory's text, never more than `max_tokens` by the configured counter.

    With `fence` it is put between marks, which count.

    Raises:
        NotFound: the tenant has no such memory, or it is a note that was deleted.
    """
    counter = tokens.in_use()
    bare = cut_memory(
        load_memory(tenant=tenant, memory_id=memory_id, style=style),
        max_tokens=max_tokens - fence.tokens,
        strategy=strategy,
        include_header=include_header,
        counter=counter,
    )
    text = fence.wrap_text(bare.content)
    return replace(bare, content=text, token_count=counter.count(text), fence=fence)


def cut_memory(
    memory: Memory, *, max_tokens: int, strategy: Strategy, include_header: bool, counter: Counter
) -> Chunk:
    """Return as much of a memory as fits, cleaned for a prompt; empty if nothing does.

    A header that would leave no room for any text is left out.
    """
    header = ""
    if include_header:
        label = cleaning.clean_line(memory.label, memory.style)
        header = cleaning.break_definitions(f"[{memory.source_type}: {label}]\n", memory.style)
    text = cleaning.clean_block(memory.quotation, memory.style)
    whole = header + text
    shown, header_kept = whole, header
    if counter.count(whole) > max_tokens:
        for header_kept in dict.fromkeys([header, ""]):
            shown = _put_behind(header_kept, text, memory.style, max_tokens, strategy, counter)
            if shown:
                break
    return Chunk(
        memory_id=memory.id,
        content=shown,
        token_count=counter.count(shown),
        truncated=shown != whole,
        header=header_kept or None,
        counter=counter.name,
    )


def _put_behind(
    header: str, text: str, style: str, max_tokens: int, strategy: Strategy, counter: Counter
) -> str:
    """Return the header and as much of the text as fits with it; empty if nothing does.

    The cut part may have closed a fence, so the rest is cleaned and counted again.
    """

    def count(part: str) -> int:
        return counter.count(header + cleaning.clean_block(part, style))

    body = cut(text, at_most=max_tokens, strategy=strategy, count=count)
    return header + cleaning.clean_block(body, style) if body else ""
