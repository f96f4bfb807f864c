"""The twelve tools. Each is a few calls of the REST API, whose limits and receipts stay in force.

A docstring here is what the model reads about the tool.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal, cast

from memory_server_client import AsyncClient, NewMessage, NotFound, types
from memory_server_client.fences import fence
from pydantic import Field
from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

CONVERSATIONS = uuid.UUID("6a3f6f4e-5a57-5e39-8d0b-0a4b1f6d1c55")
"""Turns the name of a conversation into its id."""
NOTHING = "Memory holds nothing on this."
QUESTIONS_AT_MOST = 6
Budget = Annotated[int, Field(ge=100, le=20_000, description="Tokens the answer may have.")]
Conversation = Annotated[
    str, Field(description="Its UUID, or any name: the same name is the same conversation.")
]
MemoryId = Annotated[str, Field(description="An id that search, recall or why has named.")]


def split_questions(query: str) -> list[str]:
    """Return the questions of a query, a line each; all of it where these are too many."""
    lines = [line for line in query.splitlines() if line.strip()]
    return lines if 1 < len(lines) <= QUESTIONS_AT_MOST else [query]


class _Said(TypedDict):
    role: Literal["user", "assistant", "system", "tool"]
    content: str


class Message(_Said, total=False):
    """What somebody said; `name` is the speaker's."""

    name: str


class Instructions(TypedDict, total=False):
    """What to keep and never to; each `word` with its `meaning`, `label` with an `example`."""

    keep: Sequence[str]
    never: Sequence[str]
    words: Sequence[dict[str, str]]
    labels: Sequence[dict[str, str]]


class Tools:
    """The tools of whoever calls: `connect` returns a client with the caller's own key.

    `user_id` is whose memory it is where the key is bound to nobody: who runs the server says so,
    never a tool's argument. Empty: all that the key may see.
    """

    def __init__(self, connect: Callable[[], AsyncClient], user_id: str = "") -> None:
        self._connect = connect
        self._user_id = user_id

    async def _find_user(self, memory: AsyncClient) -> str | None:
        """Return whose memory it is; None: of all whom the key may see."""
        if self._user_id:
            return self._user_id
        users = (await memory.whoami())["key"]["user_ids"]
        return users[0] if len(users) == 1 else None

    async def remember(
        self,
        text: Annotated[str, Field(description="One thing, in words that stand alone.")],
        tags: Sequence[str] = (),
    ) -> str:
        """Store a note on purpose: what the user asks to remember, a decision, a lesson.

        Findable at once, by everybody who shares this memory. Store no secrets.
        """
        memory = self._connect()
        user_id = await self._find_user(memory)
        note = await memory.add_note(text, tags=list(tags) or None, user_id=user_id)
        return f"Stored as note {note['id']}."

    async def forget(
        self, text: Annotated[str, Field(description="What to forget, in words.")]
    ) -> str:
        """Forget what the user asks to forget. Only when the user says so in this conversation.

        The facts, notes and messages that say it are served no more. A person then erases
        them for good, or restores them.
        """
        memory = self._connect()
        user_id = await self._find_user(memory)
        scope: types.RetrievalScopeEnum = "user" if user_id else "tenant"
        done = await memory.forget(text, scope=scope, user_id=user_id)
        ids = [fact["fact_id"] for fact in done["forgotten"]]
        if not ids and not done["note_ids"]:
            return "No fact or note fits. Say it in other words."
        return (
            f"Forgotten: {len(ids)} facts ({', '.join(ids) or 'none'}), {len(done['note_ids'])}"
            f" notes ({', '.join(done['note_ids']) or 'none'}). A person confirms it."
        )

    async def add_messages(self, conversation: Conversation, messages: list[Message]) -> str:
        """Store messages of a conversation, in order; facts and episodes are made of them later.

        Add each message once, with what was really said. Leave out what memory itself answered.
        """
        talk = find_conversation(conversation)
        said: list[NewMessage] = [
            {"role": one["role"], "content": one["content"], "name": one.get("name")}
            for one in messages
        ]
        memory = self._connect()
        stored = await memory.add_messages(talk, said, user_id=await self._find_user(memory))
        count, pending = len(stored["messages"]), stored["pending"]
        return f"Stored {count} messages in conversation {talk}; {pending} not yet processed."

    async def recall(
        self,
        query: Annotated[
            str,
            Field(
                description="Short questions, a line each, up to six, such as: Who is the user's "
                "dentist? Where is the practice? Name people and things instead of she and it."
            ),
        ],
        conversation: Conversation | None = None,
        max_tokens: Budget = 1000,
    ) -> str:
        """Recall what is known, as text. Ask before you answer about the past or the user.

        From all conversations and notes of the user. With a conversation: from that one alone.
        Ask again when the topic changes, and in other words when the answer lacks what you need.
        """
        memory = self._connect()
        query, *queries = split_questions(query)
        if conversation is None:
            user_id = await self._find_user(memory)
            text = await memory.recall(
                query, queries=queries, user_id=user_id, max_tokens=max_tokens
            )
        else:
            talk = find_conversation(conversation)
            text = await memory.retrieve_memory(
                talk, query, queries=queries, max_tokens=max_tokens, fence=True, fresh=True
            )
        return f"{text}(receipt {text.receipt})" if text else NOTHING

    async def ask(
        self,
        query: Annotated[str, Field(description="One question, with names for she and it.")],
        conversation: Conversation | None = None,
        max_tokens: Budget = 4000,
    ) -> str:
        """Answer a question with checked citations, by the memory server's own language model.

        Costs more than recall: for an answer whose sources must be shown. Without such a model on
        the server, recall.
        """
        memory = self._connect()
        talk = None if conversation is None else find_conversation(conversation)
        user_id = await self._find_user(memory) if talk is None else None
        scope: types.RetrievalScopeEnum | None = None
        if talk is None:
            scope = "user" if user_id else "tenant"
        told = await memory.ask(
            talk, query, scope=scope, user_id=user_id, max_tokens=max_tokens, fresh=True
        )
        lines = []
        for one in told["sentences"]:
            cited = ", ".join(f"{cite['kind']} {cite['id']}" for cite in one["citations"])
            lines.append(f"{one['text']} [{cited}]")
        answer = fence(lines) if lines else NOTHING
        return f"{answer}\n({len(told['struck'])} struck; receipt {told['receipt']})"

    async def profile(self, max_tokens: Budget = 400) -> str:
        """Tell what to know of the user before the first question: dangers, how to treat them.

        And who they are, preferences, present matters and plans. Call it once, at the start.
        """
        memory = self._connect()
        user_id = await self._find_user(memory)
        if user_id is None:
            return "This memory is of several users: recall instead."
        known = await memory.get_user_profile(user_id, max_tokens=max_tokens, fence=True)
        return f"{known['text']}(receipt {known['receipt']})" if known["text"] else NOTHING

    async def read_profile(self) -> str:
        """Return the user's profile: a resource, no tool."""
        return await self.profile()

    async def search(
        self,
        query: Annotated[str, Field(description="Words to look for; * for everything.")],
        max_results: Annotated[int, Field(ge=1, le=50)] = 10,
        kind: Literal["fact", "episode", "note"] | None = None,
    ) -> str:
        """Search all memory for facts, episodes and notes; names their ids for read and why."""
        found = await self._connect().search(
            query, max_results=max_results, source_types=[kind] if kind else None
        )
        return render_items(found)

    async def list_recent(self) -> str:
        """Return the ten newest memories: a resource, no tool."""
        return render_items(await self._connect().search("*", sort_by="recency", max_results=10))

    async def read(self, memory_id: MemoryId, max_tokens: Budget = 2000) -> str:
        """Read one memory whole, or as much as the budget holds."""
        chunk = await self._connect().chunk_memory(
            memory_id, max_tokens, include_header=True, fence=True
        )
        return chunk["content"]

    async def why(
        self, id: Annotated[str, Field(description="The id of a fact, or of a receipt.")]
    ) -> str:
        """Explain a fact by the messages behind it and its history, or an answer by its receipt."""
        memory = self._connect()
        try:
            fact = await memory.get_fact(id)
        except NotFound:
            receipt = await memory.get_retrieval(id)
            hits = [
                f"{hit['rank']}. {hit['kind']} {hit['memory_id']}, score {hit['score']:.3f}"
                f" (keyword rank {hit['lexical_rank']}, semantic rank {hit['vector_rank']})"
                for hit in receipt["hits"]
            ]
            head = f"{receipt['created_at']}, {receipt['kind']}: {receipt['query']}"
            return fence([head, *hits])
        said = await memory.chunk_memory(id, 1000)
        history = [
            f"- {step['at']}: {step['action']} by {step['actor']}"
            f" (changeset {step['changeset_id']}): {step['reason'] or step['kind']}"
            for step in fact["history"]
        ]
        return fence([said["content"], "History:", *history])

    async def correct(
        self,
        fact_id: MemoryId,
        reason: Annotated[str, Field(description="Who said so, and why it is wrong.")],
        better: Annotated[str | None, Field(description="The right sentence, if known.")] = None,
    ) -> str:
        """Replace a wrong fact by a better sentence, or retire it. Only when the user says so.

        A person can revert the change.
        """
        memory = self._connect()
        if better is None:
            fact = await memory.invalidate_fact(fact_id, because="wrong", reason=reason)
            return f"Retired fact {fact['id']} by changeset {fact['changeset_id']}."
        fact = await memory.correct_fact(fact_id, better, reason=reason)
        return f"Fact {fact['id']} takes its place, by changeset {fact['changeset_id']}."

    async def instructions(self, changes: Instructions | None = None) -> str:
        """Read what memory is to keep, never to keep and to label, or change that.

        A list among the changes replaces the one in effect, the others stay. It is for all who
        share this memory: change it only when the user says so. A person can undo it.
        """
        memory, saved = self._connect(), Instructions()
        with suppress(NotFound):
            found: Any = await memory.get_instructions()
            saved |= Instructions(keep=found["keep"], never=found["never"])
            saved |= Instructions(words=found["words"], labels=found["labels"])
        if changes:
            saved |= changes
            await memory.put_instructions(**cast(Any, saved))
        return json.dumps(saved, ensure_ascii=False)

    async def status(self, conversation: Conversation | None = None) -> str:
        """Say what this key may do, what is left of its limits, and how far memory is processed."""
        memory = self._connect()
        mine = await memory.whoami()
        lines = [
            f"Tenant: {mine['tenant']['name']}; key: {mine['key']['name']}",
            f"May: {', '.join(mine['scopes'])}",
            *(
                f"{one['unit'].capitalize()} of the {one['of']}: {one['left']} of"
                f" {one['burst']} left, {one['rate']} a minute"
                for one in mine["limits"]
            ),
        ]
        if conversation is not None:
            state = await memory.get_conversation(find_conversation(conversation))
            lines.append(
                f"Messages: {state['messages']}, {state['pending']} not yet processed;"
                f" episodes: {state['episodes']}; facts: {state['facts']}"
            )
        return "\n".join(lines)


def render_items(found: types.SearchOutput) -> str:
    """Return what a search found, a line for each."""
    if not found["items"]:
        return NOTHING
    lines = [
        f"- {item['source_type']} {item['id']}, {item['occurred_at'][:10]}: {item['snippet']}"
        for item in found["items"]
    ]
    return f"{fence(lines)}\n(receipt {found['receipt']})"


def find_conversation(name: str) -> uuid.UUID:
    """Return the id of a conversation: itself, or one that the name always has."""
    try:
        return uuid.UUID(name)
    except ValueError:
        return uuid.uuid5(CONVERSATIONS, name)
