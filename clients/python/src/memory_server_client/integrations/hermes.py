"""A memory provider of Hermes Agent, over what a user said on any of its channels."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from agent.memory_provider import MemoryProvider

from memory_server_client import Client, MemoryServerError, Retries
from memory_server_client.integrations.keeping import Tools, conversation_of
from memory_server_client.spool import Server

RECALL_TOKENS, PROFILE_TOKENS = 1000, 400
TIMEOUT_S = 5.0
"""Seconds that a turn waits for a step of a call, where the server is away."""
PREFIX = "memory_server_"
NOBODY = "hermes-user"
"""The user where neither `MEMORY_USER` nor the channel names one."""


def tool(method: Callable[..., str], argument: str, meaning: str) -> dict[str, Any]:
    """Return the schema of a tool with one argument."""
    properties = {argument: {"type": "string", "description": meaning}}
    parameters = {"type": "object", "properties": properties, "required": [argument]}
    description = (method.__doc__ or "").splitlines()[0]
    return {"name": PREFIX + method.__name__, "description": description, "parameters": parameters}


TOOLS = [
    tool(Tools.recall, "query", "What to recall, in words."),
    tool(Tools.remember, "text", "One thing, in words that stand alone."),
    tool(Tools.forget, "text", "What to forget, in the user's words."),
]


class MemoryServerProvider(MemoryProvider):
    """Stores each turn, and brings back what bears on the next; a session is a conversation.

    Hermes goes on where a call fails, and stores in a thread; what does not reach the server waits
    in the coding agents' spool. What cron jobs and subagents say is not stored.
    """

    client: Client

    @property
    def name(self) -> str:
        """The name in `memory.provider`, and of the plugin's folder."""
        return "memory_server"

    def is_available(self) -> bool:
        """Return whether there is a key."""
        return bool(os.environ.get("MEMORY_KEY"))

    def get_config_schema(self) -> list[dict[str, Any]]:
        """Return what `hermes memory setup` asks for; all of it stands in `.env`."""
        asked = [
            ("url", "MEMORY_URL", "Where the memory server is", False),
            ("key", "MEMORY_KEY", "A key of it", True),
            ("user", "MEMORY_USER", "Your id there; empty: what the channel calls you", False),
        ]
        return [
            {"key": key, "env_var": variable, "description": text, "secret": is_secret}
            for key, variable, text, is_secret in asked
        ]

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Begin a session."""
        self.client = Client(timeout_s=TIMEOUT_S, retries=Retries(attempts=2))
        self.user_id = os.environ.get("MEMORY_USER") or kwargs.get("user_id") or NOBODY
        self.tools = Tools(self.client, self.user_id, RECALL_TOKENS)
        self.agent_id = kwargs.get("agent_identity")
        self.is_stored = kwargs.get("agent_context", "primary") == "primary"
        self.session_id = session_id

    def system_prompt_block(self) -> str:
        """Return the user's profile."""
        profile = self.client.get_user_profile(self.user_id, max_tokens=PROFILE_TOKENS, fence=True)
        return profile["text"]

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """Return what other sessions and notes of the user say on a question."""
        return self.client.recall(
            query,
            user_id=self.user_id,
            conversation_id=conversation_of(session_id or self.session_id),
            max_tokens=RECALL_TOKENS,
        )

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        """Store what the user and Hermes said; calls of tools are left out."""
        if not self.is_stored:
            return
        server, talk = self._reach(), conversation_of(session_id or self.session_id)
        body = {"conversation_id": str(talk), "user_id": self.user_id, "agent_id": self.agent_id}
        for role, text in (("user", user_content), ("assistant", assistant_content)):
            if text.strip():
                message = {"role": role, "content": text}
                server.post("add_message", {**body, "message": message}, uuid4().hex)

    def _reach(self) -> Server:
        """Return the server with its spool, after sending what could not be sent before."""
        server = Server(self.client.url, os.environ["MEMORY_KEY"], self.user_id)
        server.send_spooled()
        return server

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Return the tools: recall, remember, forget."""
        return TOOLS

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Do what the model asks for; it is told what the server refuses."""
        try:
            method = getattr(self.tools, tool_name.removeprefix(PREFIX))
            return json.dumps({"result": method(str(args.get("query") or args.get("text") or ""))})
        except MemoryServerError as error:
            return json.dumps({"error": str(error)})

    def on_session_end(self, messages: list[dict[str, Any]]) -> None:
        """End the conversation: what was said in it is made episodes and facts of now."""
        self._reach().post(f"conversations/{conversation_of(self.session_id)}/close", None)

    def on_session_switch(self, new_session_id: str, **kwargs: Any) -> None:
        """Go on in another conversation."""
        self.session_id = new_session_id

    def shutdown(self) -> None:
        """Close the connections."""
        self.client.close()


def register(ctx: Any) -> None:
    """Register the provider, as a plugin of Hermes does."""
    ctx.register_memory_provider(MemoryServerProvider())
