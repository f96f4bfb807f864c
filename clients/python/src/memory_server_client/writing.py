"""Operations that store: messages, notes, links; and the jobs that work on them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from memory_server_client import types
from memory_server_client.core import Call, Calls, Flow, Id, Moment, at, named
from memory_server_client.errors import JobFailed
from memory_server_client.faces import Operation as operation
from memory_server_client.faces import listing

POLL_FIRST_S, POLL_AT_MOST_S = 0.1, 2.0


class _Said(TypedDict):
    role: types.SpeakerEnum
    content: str | Sequence[Mapping[str, Any]]


class NewMessage(_Said, total=False):
    """A message as it is posted: role and content; name, timestamp and metadata if there are.

    `user_id`: whose it is, where that is another user than the conversation's. The content may
    be OpenAI's parts, and its `tool_calls` and `tool_call_id` are taken, too. `external_id` is
    your own id of it, by which `list_messages` finds it.
    """

    name: str | None
    user_id: str | None
    timestamp: Moment | None
    metadata: Mapping[str, Any] | None
    external_id: str | None
    tool_calls: Sequence[Mapping[str, Any]] | None
    tool_call_id: str | None


class NewNote(TypedDict, total=False):
    """A note as `add_notes` posts it; see `add_note` for what its fields say."""

    content: str | None
    label: str | None
    description: str | None
    source_type: types.NoteTypeEnum | None
    source_id: str | None
    user_id: str | None
    importance: float | None
    category: str | None
    tags: Sequence[str] | None
    metadata: Mapping[str, Any] | None
    emotion_type: str | None
    emotion_intensity: float | None
    emotion_valence: types.EmotionValenceEnum | None
    span: Mapping[str, Any] | None
    source_path: str | None
    excerpt: str | None
    occurred_at: Moment | None


class Writing(Calls):
    """What stores."""

    @operation
    def add_message(
        self,
        conversation_id: Id,
        message: NewMessage,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Flow[types.AddMessageOutput]:
        """Store one message at once; episodes and facts follow in the background.

        Args:
            conversation_id: any UUID of yours; the conversation starts with it.
            message: what was said: `{"role": "user", "content": "…", "name": "Ana"}`.
            user_id: whose the conversation is, by your own id; the first call that names one
                decides.
            agent_id: which agent leads it, likewise.
            idempotency_key: the same key again, also from another process, stores nothing twice.
                Default: a new one for this call, which makes its retries safe.

        Raises:
            Conflict: the key was used with another message, or the conversation has another
                user or agent.
            Gone: what was stored under the key was erased.
        """
        body = named(locals(), "idempotency_key")
        return self._store("add_message", idempotency_key, body)

    @operation
    def add_messages(
        self,
        conversation_id: Id,
        messages: Sequence[NewMessage],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Flow[types.AddMessagesOutput]:
        """Store 1 to 500 messages of one conversation, in order, all or nothing.

        See `add_message` for the user, the agent and the key.
        """
        body = {"conversation_id": conversation_id, "user_id": user_id, "agent_id": agent_id}
        messages = list(messages)
        return self._store("add_messages", idempotency_key, {**body, "messages": messages})

    @operation
    def flush(self, conversation_id: Id) -> Flow[types.FlushOutput]:
        """Make episodes and facts of everything said so far; `wait_for` waits for the job."""
        return self._post("flush", {"conversation_id": conversation_id})

    @operation
    def close_conversation(self, conversation_id: Id) -> Flow[types.FlushOutput]:
        """End a session: what `flush` does; what is said later opens the conversation again."""
        return self._post(at("conversations/{}/close", conversation_id))

    @operation
    def forget(
        self,
        text: str | None = None,
        *,
        fact_ids: Sequence[Id] | None = None,
        scope: types.RetrievalScopeEnum | None = None,
        user_id: str | None = None,
        conversation_id: Id | None = None,
        reason: str | None = None,
    ) -> Flow[types.ForgetOutput]:
        """Serve no more what a user asks to forget; a person erases it for good, or restores it.

        Args:
            text: what to forget, in words; or name it by `fact_ids`.
            scope: where the text is looked for: the user's memory, the conversation, the tenant.
        """
        return self._post("forget", named(locals()))

    @operation
    def wait_for(
        self, job: Id | Mapping[str, Any], *, timeout_s: float = 60.0
    ) -> Flow[types.JobOutput]:
        """Return a job's state when it is done.

        Args:
            job: its id, or the answer that names it: `wait_for(flush(talk))`.

        Raises:
            JobFailed: it is dead or cancelled.
            TimeoutError: it is neither within `timeout_s`; it goes on all the same.
        """
        job_id = job["job_id"] if isinstance(job, Mapping) else job
        until, pause_s = time.monotonic() + timeout_s, POLL_FIRST_S
        while True:
            state: types.JobOutput = yield from self._get(at("jobs/{}", job_id))
            if state["state"] == "done":
                return state
            if state["state"] in {"dead", "cancelled"}:
                raise JobFailed(state)
            if time.monotonic() + pause_s > until:
                raise TimeoutError(f"The job {job_id} is {state['state']} after {timeout_s:g} s.")
            yield pause_s
            pause_s = min(2 * pause_s, POLL_AT_MOST_S)

    @operation
    def get_job(self, job_id: Id) -> Flow[types.JobOutput]:
        """Return the state of background work."""
        return self._get(at("jobs/{}", job_id))

    @operation
    def retry_job(self, job_id: Id) -> Flow[types.JobOutput]:
        """Run a dead or cancelled job again."""
        return self._post(at("jobs/{}/retry", job_id))

    @listing(types.ListedConversation)
    def list_conversations(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over conversations, newest first: all, a user's, or an agent's."""
        return self._list("conversations", named(locals()))

    @operation
    def get_conversation(self, conversation_id: Id) -> Flow[types.ConversationOutput]:
        """Return how far a conversation is processed."""
        return self._get(at("conversations/{}", conversation_id))

    @operation
    def move_conversation(self, conversation_id: Id, *, user_id: str) -> Flow[types.MoveOutput]:
        """Give a conversation to another user, with all that is known from it; see the answer."""
        path = at("conversations/{}/user", conversation_id)
        return self._post(path, {"user_id": user_id})

    @operation
    def retry_conversation(self, conversation_id: Id) -> Flow[types.FlushOutput]:
        """Process again what was set aside in a conversation."""
        return self._post(at("conversations/{}/retry", conversation_id))

    @listing(types.MessageOutput)
    def list_messages(
        self,
        conversation_id: Id,
        *,
        name: str | None = None,
        external_id: str | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over the messages of a conversation, oldest first.

        `name`: of one speaker; `external_id`: those that you call so.
        """
        return self._list("messages", named(locals()))

    @operation
    def get_message(self, message_id: Id) -> Flow[types.MessageOutput]:
        """Return a message, as a receipt or a fact's evidence names it."""
        return self._get(at("messages/{}", message_id))

    @operation
    def add_note(
        self,
        content: str | None = None,
        *,
        label: str | None = None,
        description: str | None = None,
        source_type: types.NoteTypeEnum | None = None,
        source_id: str | None = None,
        user_id: str | None = None,
        conversation_id: Id | None = None,
        importance: float | None = None,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        emotion_type: str | None = None,
        emotion_intensity: float | None = None,
        emotion_valence: types.EmotionValenceEnum | None = None,
        span: Mapping[str, Any] | None = None,
        source_path: str | None = None,
        excerpt: str | None = None,
        occurred_at: Moment | None = None,
        idempotency_key: str | None = None,
    ) -> Flow[types.NoteOutput]:
        """Store something on purpose, findable at once.

        Args:
            content: the text, up to 64 KiB, stored unchanged.
            label: a line to show it by.
            user_id: whom it is about, by your own id.
            importance: from 0 to 1; 0.5 if nothing is said.
            occurred_at: when it was so; default: now.
            idempotency_key: see `add_message`.
        """
        return self._store("notes", idempotency_key, named(locals(), "idempotency_key"))

    @operation
    def add_notes(
        self,
        notes: Sequence[NewNote],
        *,
        conversation_id: Id | None = None,
        idempotency_key: str | None = None,
    ) -> Flow[types.NotesOutput]:
        """Store 1 to 500 notes of one conversation, or of none, in order, all or nothing.

        See `add_message` for the key.
        """
        body = {"conversation_id": conversation_id, "notes": list(notes)}
        return self._store("notes/batch", idempotency_key, body)

    @listing(types.ListedNote)
    def list_notes(
        self,
        *,
        conversation_id: Id | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        category: str | None = None,
        tag: str | None = None,
        source_id: str | None = None,
        source_type: types.NoteTypeEnum | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over notes, newest first, without their long texts; all filters must hold."""
        return self._list("notes", named(locals()))

    @operation
    def get_note(self, note_id: Id) -> Flow[types.NoteOutput]:
        """Return a note as it is now."""
        return self._get(at("notes/{}", note_id))

    @operation
    def change_note(
        self, note_id: Id, *, version: int, changes: Mapping[str, Any]
    ) -> Flow[types.NoteOutput]:
        """Write a new version of a note; the one before is kept.

        Args:
            version: the one that you have read.
            changes: fields of `add_note` by name; None takes one back.

        Raises:
            Conflict: somebody has changed it since `version`.
        """
        return self._change("PATCH", at("notes/{}", note_id), {**changes, "version": version})

    @operation
    def delete_note(self, note_id: Id) -> Flow[None]:
        """Delete a note: it is neither found nor shown any more."""
        return self._change("DELETE", at("notes/{}", note_id))

    @operation
    def restore_note(self, note_id: Id) -> Flow[types.NoteOutput]:
        """Restore a deleted note."""
        return self._post(at("notes/{}/restore", note_id))

    @listing(types.NoteVersionOutput)
    def list_note_versions(self, note_id: Id, *, page_size: int | None = None) -> Call:
        """Iterate over the versions of a note, newest first."""
        return self._list(at("notes/{}/versions", note_id), named(locals(), "note_id"))

    @operation
    def add_link(
        self,
        from_id: Id,
        to_id: Id,
        *,
        link_type: types.LinkInputLinkTypeEnum | None = None,
    ) -> Flow[types.LinkOutput]:
        """Link one memory to another; `relates_to` if nothing is said.

        Raises:
            BadRequest: there is just this link already.
        """
        return self._post("links", {"from_id": from_id, "to_id": to_id, "link_type": link_type})

    @operation
    def delete_link(self, link_id: Id) -> Flow[None]:
        """Delete a link that was added; what the server links itself stays."""
        return self._change("DELETE", at("links/{}", link_id))
