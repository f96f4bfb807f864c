"""What a client does: search by SQL, with or without embedding, or call the server."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.retrieval import statement
from bench.retrieval.clients import Action, Ask, Setup, Side
from bench.retrieval.databases import connect
from bench.retrieval.wire import Wire
from episodic.models import Conversation
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors

BUDGET_TOKENS = 1000


class Actor:
    """Holds one connection and one wire for each place, and one embedder."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._embedder = embeddings.get_embedder()
        self._embedder.embed_query("loads what is loaded late")
        self._rng = np.random.default_rng(setup.vectors_seed)
        self._connections = [connect(place.conninfo) for place in setup.places]
        self._wires = [Wire(port=place.port, key=place.key) for place in setup.places]

    def prepare(self, ask: Ask) -> Action:
        """Return the action, with all done that is not to be timed."""
        if ask.side is Side.EMBEDDING:
            return lambda: self._embedder.embed_query(ask.words)
        if ask.side in (Side.HTTP, Side.PACKED, Side.USER):
            return self._prepare_retrieve(ask)
        if ask.side in (Side.ADD_MESSAGE, Side.ADD_MESSAGES):
            return self._prepare_add(ask)
        if ask.side is Side.EMBEDDED_SQL:
            return lambda: self._run(
                ask, self._build(ask, ask.words, self._embedder.embed_query(ask.words))
            )
        words = "" if ask.side is Side.VECTORS else ask.words
        vector = None if ask.side is Side.WORDS else self._draw_vector()
        built = self._build(ask, words, vector)
        return lambda: self._run(ask, built)

    def _build(self, ask: Ask, words: str, vector: Vectors | None) -> statement.Statement:
        conversation = Conversation(
            id=ask.conversation,
            external_id=ask.conversation,
            tenant_id=self._setup.tenant_id,
            language=self._setup.language,
        )
        question = statement.make_question(words, vector, model=self._embedder.name)
        return statement.build(conversation, question)

    def _run(self, ask: Ask, built: statement.Statement) -> list[Any]:
        return self._connections[ask.place].execute(*built).fetchall()

    def _draw_vector(self) -> Vectors:
        """Return a direction: which one it is makes no difference to an exact search."""
        vector = self._rng.standard_normal(self._embedder.dim).astype(np.float32)
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit

    def _prepare_retrieve(self, ask: Ask) -> Action:
        wire = self._wires[ask.place]
        body: dict[str, Any] = {"conversation_id": str(ask.conversation), "query": ask.words}
        if ask.side is Side.USER:
            body = {"scope": "user", "user_id": str(ask.conversation), "query": ask.words}
        if ask.side in (Side.PACKED, Side.USER):
            body["max_tokens"] = BUDGET_TOKENS
        request = wire.write_post("retrieve_memory", body)

        def retrieve() -> None:
            if b"## Episodic Memories" not in wire.ask(request):
                raise RuntimeError("An answer without memories was timed.")

        return retrieve

    def _prepare_add(self, ask: Ask) -> Action:
        wire = self._wires[ask.place]
        messages = [{"role": "user", "name": "Ana", "content": text} for text in ask.messages]
        body: dict[str, Any] = {"conversation_id": str(ask.conversation)}
        body |= {"message": messages[0]} if ask.side is Side.ADD_MESSAGE else {"messages": messages}
        request = wire.write_post(ask.side.value, body)
        return lambda: wire.ask(request, status=201)
