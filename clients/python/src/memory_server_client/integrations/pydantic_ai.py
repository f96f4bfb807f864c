"""A pydantic-ai toolset with which a model recalls and remembers."""

from __future__ import annotations

from typing import Any

from pydantic_ai.toolsets import FunctionToolset

from memory_server_client import Client
from memory_server_client.integrations.keeping import Tools


class MemoryServerToolset(Tools, FunctionToolset[Any]):
    """The tools `recall`, `remember` and `forget`, over all that a user has said and noted."""

    def __init__(
        self, client: Client, *, user_id: str | None = None, max_tokens: int = 1000
    ) -> None:
        """Offer the tools.

        Args:
            user_id: whose memory, by your own id; default: all that the client's key may see.
            max_tokens: that what is recalled may have.
        """
        Tools.__init__(self, client, user_id, max_tokens)
        own: list[Any] = [self.recall, self.remember, self.forget]
        FunctionToolset.__init__(self, own, id="memory-server")
