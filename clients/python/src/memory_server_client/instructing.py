"""Operations on instructions: what the server learns, and a preview of what a text would teach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_server_client import types
from memory_server_client.core import Call, Calls, Flow, drop_absent, named
from memory_server_client.faces import Operation as operation
from memory_server_client.faces import listing


class Instructing(Calls):
    """What says what to keep and what never to; it needs the scope `admin`."""

    @operation
    def get_instructions(self, *, agent_id: str | None = None) -> Flow[types.InstructionsOutput]:
        """Return the version in effect, of the whole tenant or of an agent."""
        return self._get("instructions", {"agent_id": agent_id})

    @operation
    def put_instructions(
        self,
        *,
        keep: Sequence[str] = (),
        never: Sequence[str] = (),
        words: Sequence[types.TradeWord] = (),
        labels: Sequence[types.Label] = (),
        agent_id: str | None = None,
    ) -> Flow[types.InstructionsOutput]:
        """Save a new version, which replaces the one in effect.

        Args:
            keep: what to keep as a fact, though it may seem small.
            never: what never to keep as a fact: words, or what it is about.
            words: words of the trade, each with its `meaning`.
            labels: labels of facts beside the categories, each with an `example`.
        """
        return self._change("PUT", "instructions", drop_absent(named(locals())))

    @listing(types.InstructionsOutput)
    def list_instructions(
        self, *, agent_id: str | None = None, page_size: int | None = None
    ) -> Call:
        """Iterate over all versions, newest first."""
        return self._list("instructions/versions", named(locals()))

    @operation
    def undo_instructions(self, *, agent_id: str | None = None) -> Flow[types.InstructionsOutput]:
        """Undo the version in effect, and return it."""
        return self._post("instructions/undo", {"agent_id": agent_id})

    @operation
    def preview_instructions(
        self,
        text: str,
        *,
        agent_id: str | None = None,
        instructions: Mapping[str, object] | None = None,
    ) -> Flow[types.PreviewOutput]:
        """Return the facts that a text would become, and what is left out; nothing is stored.

        Args:
            instructions: `keep`, `never`, `words` and `labels` to try in place of those saved.
        """
        return self._ask("instructions/preview", named(locals()))
