"""Operations that answer: retrieval, search, contexts, memories, receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args
from urllib.parse import quote

from memory_server_client import types
from memory_server_client.core import (
    Call,
    Calls,
    Flow,
    Id,
    Markdown,
    Moment,
    at,
    named,
    read_markdown,
)
from memory_server_client.faces import Operation as operation
from memory_server_client.faces import listing
from memory_server_client.fences import fence

LEAST_RELEVANCE = 0.2
"""Of a note in what is recalled."""
NOTES_READ = 50
"""That are found, of which the budget holds some."""
LEAST_CUT_TOKENS = 40
"""Of a note that the budget cuts."""
LEAST_ROOM, FENCE_TOKENS, LINE_TOKENS = 100, 45, 12
"""Tokens for notes at least, for the marks around them, and for what stands before each."""


class Asking(Calls):
    """What answers."""

    @operation
    def retrieve_memory(
        self,
        conversation_id: Id | None,
        query: str,
        *,
        queries: Sequence[str] | None = None,
        max_tokens: int | None = None,
        semantic_limit: int | None = None,
        episodic_limit: int | None = None,
        detail: types.DetailEnum | None = None,
        category: types.CategoryEnum | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        scope: types.RetrievalScopeEnum | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        exclude_current: bool | None = None,
        min_seq: int | None = None,
        fresh: bool | None = None,
        min_relevance: float | None = None,
        style: Sequence[str] | None = None,
        whole: bool | None = None,
        links: types.LinksEnum | None = None,
        fence: bool | None = None,
        explain: bool | None = None,
    ) -> Flow[Markdown]:
        """Return what is known on a query, as markdown for a prompt.

        Args:
            conversation_id: where to look; with the scopes `user` and `tenant` where it is asked,
                or None.
            query: what to look for, in words.
            queries: up to five further questions, whose answers share `max_tokens`: one for each
                step of a question of several steps finds more than all in one.
            max_tokens: pack the answer into this budget; give it wherever a prompt follows.
            semantic_limit: facts at most; default 20.
            episodic_limit: episodes at most; default 5, or what the budget holds.
            detail: which episodes show their messages: auto, none, low, high.
            as_of: answer with what was true then.
            known_at: answer with what the server believed then, whatever was corrected since.
            scope: whose memories: the conversation's, its user's, or the tenant's.
            user_id: whose, with the scope `user`; default: the conversation's user.
            agent_id: of several conversations those alone that this agent leads.
            exclude_current: leave out the conversation itself: it is in the prompt already.
            min_seq: include what was said up to this message, processed or not.
            fresh: include the last messages that are not processed yet, of the conversation, or
                with the scope `user` of each of his others.
            min_relevance: answer with nothing where `Markdown.relevance` is below this.
            style: `fenced`, between marks which say that it is data (see `Markdown.fence`); links
                `defanged`, so that nothing follows or loads them, or `plain` (default: as the key
                says); `whole`, also messages of over 8,000 characters, not with `max_tokens`.
            whole: of `style`, as `links` and `fence`, until the next version.
        """
        return self._ask("retrieve_memory", named(locals()), read=read_markdown)

    @operation
    def retrieve_memory_raw(
        self,
        conversation_id: Id | None,
        query: str,
        *,
        queries: Sequence[str] | None = None,
        max_tokens: int | None = None,
        semantic_limit: int | None = None,
        episodic_limit: int | None = None,
        detail: types.DetailEnum | None = None,
        category: types.CategoryEnum | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        scope: types.RetrievalScopeEnum | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        exclude_current: bool | None = None,
        min_seq: int | None = None,
        fresh: bool | None = None,
        min_relevance: float | None = None,
        style: Sequence[str] | None = None,
        whole: bool | None = None,
        links: types.LinksEnum | None = None,
        fence: bool | None = None,
        explain: bool | None = None,
    ) -> Flow[types.RawAnswer]:
        """Return facts and episodes as JSON; see `retrieve_memory` for the options."""
        return self._ask("retrieve_memory/raw", named(locals()))

    @operation
    def context_pre_retrieve(
        self,
        conversation_id: Id | None,
        query: str,
        *,
        queries: Sequence[str] | None = None,
        max_tokens: int | None = None,
        semantic_limit: int | None = None,
        category: types.CategoryEnum | None = None,
        preferences_only: bool | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        scope: types.RetrievalScopeEnum | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        exclude_current: bool | None = None,
        min_seq: int | None = None,
        fresh: bool | None = None,
        style: Sequence[str] | None = None,
        whole: bool | None = None,
        links: types.LinksEnum | None = None,
        fence: bool | None = None,
        explain: bool | None = None,
    ) -> Flow[Markdown]:
        """Return facts alone, for a system prompt; guidelines are always among them.

        Args:
            preferences_only: preferences, guidelines and dangers alone.
        """
        return self._ask("context_pre_retrieve", named(locals()), read=read_markdown)

    @operation
    def ask(
        self,
        conversation_id: Id | None,
        query: str,
        *,
        queries: Sequence[str] | None = None,
        max_tokens: int | None = None,
        semantic_limit: int | None = None,
        episodic_limit: int | None = None,
        category: types.CategoryEnum | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        scope: types.RetrievalScopeEnum | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        exclude_current: bool | None = None,
        min_seq: int | None = None,
        fresh: bool | None = None,
        min_relevance: float | None = None,
        links: types.LinksEnum | None = None,
    ) -> Flow[types.AskOutput]:
        """Return an answer by the server's language model, each sentence with checked citations.

        It costs a call of the model, or two, and may take a minute: give the client a `timeout_s`
        for that. It is not tried again after 503. See `retrieve_memory` for the other options.

        Args:
            max_tokens: what the model is given to answer from; default 4,000.
            min_relevance: below this relevance there is no answer and no cost.
        """
        return self._post("ask", named(locals()))

    @operation
    def recall(
        self,
        query: str,
        *,
        user_id: str | None,
        queries: Sequence[str] | None = None,
        conversation_id: Id | None = None,
        max_tokens: int = 1000,
    ) -> Flow[Markdown]:
        """Return what is known of a user from all his conversations and notes, for a prompt.

        Texts stand between marks that say that they are data. Empty: memory holds nothing on it.
        What was just said is in it, too. A few calls: `search` for notes, `retrieve_memory` for all
        else, with its receipt.

        Args:
            query: what to look for, in words.
            user_id: whose memory; None: of all users that the key may see, so it must be said.
            queries: up to five further questions, whose answers share the room, as with
                `retrieve_memory`.
            conversation_id: the one at hand, which is left out: it is in the prompt already.
            max_tokens: that the whole answer may have.
        """
        found = yield from self._ask(
            "search",
            {
                "query": query,
                "source_types": get_args(types.NoteTypeEnum),
                "user_id": user_id,
                "min_relevance": LEAST_RELEVANCE,
                "max_results": NOTES_READ,
            },
        )
        words = {word.strip(".,;:!?\"'").casefold() for word in query.split()}

        def rank(item: types.SearchItem) -> float:
            """Weigh words as well: a note that was just stored is found by them alone."""
            said = item["snippet"].casefold()
            return -item["relevance"] - sum(word in said for word in words) / len(words)

        room = max(max_tokens // 4, min(max_tokens // 2, LEAST_ROOM)) - FENCE_TOKENS
        notes: dict[str, str] = {}
        for item in sorted(found["items"], key=rank):
            size, said = min(item["token_estimate"], room), item["snippet"]
            if size < min(item["token_estimate"], LEAST_CUT_TOKENS):
                break
            if size == room or said.endswith("…"):
                body = {"max_tokens": size}
                said = (yield from self._ask(at("memories/{}/chunk", item["id"]), body))["content"]
            notes[said] = f"- note of {item['occurred_at'][:10]}: {said}"
            room -= size + LINE_TOKENS
            max_tokens -= size + LINE_TOKENS
        if notes:
            max_tokens -= FENCE_TOKENS
        text: Markdown = yield from self._ask(
            "retrieve_memory",
            {
                "conversation_id": conversation_id,
                "query": query,
                "queries": queries,
                "scope": "user" if user_id else "tenant",
                "user_id": user_id,
                "exclude_current": True if conversation_id else None,
                "max_tokens": max_tokens,
                "fresh": True if user_id else None,
                "fence": True,
            },
            read=read_markdown,
        )
        lines = [line for said, line in notes.items() if said not in text]
        known = [fence(lines)] if lines else []
        whole = Markdown("\n".join([*known, text] if text else known))
        vars(whole).update(vars(text))
        return whole

    @operation
    def get_user_profile(
        self,
        user_id: str,
        *,
        max_tokens: int | None = None,
        sections: Sequence[types.ProfileSectionEnum] | None = None,
        as_of: Moment | None = None,
        fence: bool | None = None,
        links: types.LinksEnum | None = None,
    ) -> Flow[types.ProfileOutput]:
        """Return what to know of a user before the first question, with the sources of each line.

        Args:
            user_id: whose, by your own id. Nothing known: there are no sections.
            max_tokens: that `text` may have; default 400.
            sections: these alone: dangers, guidelines, identity, preferences, present, episodes.
            as_of: what was true then.
            fence: put `text` between marks which say that it is data.
        """
        return self._get_profile(f"users/{quote(user_id, safe='')}", named(locals(), "user_id"))

    @operation
    def get_agent_profile(
        self,
        agent_id: str,
        *,
        max_tokens: int | None = None,
        sections: Sequence[types.ProfileSectionEnum] | None = None,
        as_of: Moment | None = None,
        fence: bool | None = None,
        links: types.LinksEnum | None = None,
    ) -> Flow[types.ProfileOutput]:
        """Return the same from the newest conversations that an agent leads."""
        return self._get_profile(f"agents/{quote(agent_id, safe='')}", named(locals(), "agent_id"))

    @operation
    def get_conversation_profile(
        self,
        conversation_id: Id,
        *,
        max_tokens: int | None = None,
        sections: Sequence[types.ProfileSectionEnum] | None = None,
        as_of: Moment | None = None,
        fence: bool | None = None,
        links: types.LinksEnum | None = None,
    ) -> Flow[types.ProfileOutput]:
        """Return the same from one conversation."""
        options = named(locals(), "conversation_id")
        return self._get_profile(at("conversations/{}", conversation_id), options)

    def _get_profile(self, of: str, options: Mapping[str, Any]) -> Flow[types.ProfileOutput]:
        sections = options.get("sections")
        query = {**options, "sections": ",".join(sections) if sections else None, "format": "json"}
        return self._get(f"{of}/profile", query)

    @operation
    def recent_memory(
        self,
        conversation_id: Id | None = None,
        *,
        scope: types.RetrievalScopeEnum | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        exclude_current: bool | None = None,
        limit: int | None = None,
        days_limit: int | None = None,
        links: types.LinksEnum | None = None,
        fence: bool | None = None,
    ) -> Flow[Markdown]:
        """Return the newest episodes as markdown."""
        return self._ask("recent_memory", named(locals()), read=read_markdown)

    @operation
    def recent_memory_raw(
        self,
        conversation_id: Id | None = None,
        *,
        scope: types.RetrievalScopeEnum | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        exclude_current: bool | None = None,
        limit: int | None = None,
        days_limit: int | None = None,
    ) -> Flow[list[types.FullEpisode]]:
        """Return the newest episodes as JSON."""
        return self._ask("recent_memory/raw", named(locals()))

    @operation
    def search(
        self,
        query: str,
        *,
        conversation_id: Id | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        category: str | None = None,
        tag: str | None = None,
        source_types: Sequence[types.SourceTypeEnum] | None = None,
        source_ids: Sequence[str] | None = None,
        min_importance: float | None = None,
        min_relevance: float | None = None,
        emotion_valence: types.EmotionValenceEnum | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        asked_in: Id | None = None,
        max_results: int | None = None,
        max_tokens: int | None = None,
        sort_by: types.SortByEnum | None = None,
        max_hops: int | None = None,
        link_types: Sequence[types.LinkTypeEnum] | None = None,
        links: types.LinksEnum | None = None,
    ) -> Flow[types.SearchOutput]:
        """Search facts, episodes and notes of the whole tenant.

        Args:
            query: what to look for, in words; `*` for everything.
            agent_id: only of this agent's conversations.
            as_of: search what was true then, and what had been said and noted.
            known_at: search what the server believed then.
            asked_in: the conversation that the answer is for. It narrows nothing; but what
                your agent says there of the answer is not learnt as news.
            max_results: default 10.
            sort_by: relevance, recency, importance or combined.
            max_hops: links to follow from what is found, at most 3.
        """
        return self._ask("search", named(locals()))

    @operation
    def reconstruct_context(
        self,
        query: str,
        *,
        focus_level: int | None = None,
        conversation_id: Id | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        category: str | None = None,
        min_importance: float | None = None,
        emotion_valence: types.EmotionValenceEnum | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        asked_in: Id | None = None,
        max_tokens: int | None = None,
        links: types.LinksEnum | None = None,
        fence: bool | None = None,
    ) -> Flow[types.ReconstructionOutput]:
        """Return what a query is about: memories, what they are linked with, and one text.

        Args:
            focus_level: from 0, two memories of the last hour, to 5, twenty of the last week;
                default 3.
            since: how far to look back, instead of the level's hours.
        """
        return self._ask("reconstruct_context", named(locals()))

    @operation
    def peek_memory(self, memory_id: Id) -> Flow[types.PeekOutput]:
        """Return what a memory is and how many tokens it has, without its content."""
        return self._get(at("memories/{}", memory_id))

    @operation
    def chunk_memory(
        self,
        memory_id: Id,
        max_tokens: int,
        *,
        truncation_strategy: types.TruncationStrategyEnum | None = None,
        include_header: bool | None = None,
        links: types.LinksEnum | None = None,
        fence: bool | None = None,
    ) -> Flow[types.ChunkOutput]:
        """Return the content of a memory within a budget."""
        return self._ask(at("memories/{}/chunk", memory_id), named(locals(), "memory_id"))

    @listing(types.MemoryLinkOutput)
    def list_memory_links(
        self,
        memory_id: Id,
        *,
        link_types: Sequence[types.LinkTypeEnum] | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over the links of a memory, both ways."""
        kinds = ",".join(link_types) if link_types else None
        return self._list(
            at("memories/{}/links", memory_id), {"link_types": kinds, "page_size": page_size}
        )

    @operation
    def walk_memory(
        self,
        memory_id: Id,
        *,
        depth: int | None = None,
        limit: int | None = None,
        link_types: Sequence[types.LinkTypeEnum] | None = None,
    ) -> Flow[types.WalkOutput]:
        """Return the memories around one, breadth first; `limit` memories at most."""
        kinds = ",".join(link_types) if link_types else None
        address = at("memories/{}/walk", memory_id)
        return self._get(address, {"depth": depth, "limit": limit, "link_types": kinds})

    @operation
    def make_context(
        self,
        max_tokens: int,
        *,
        system_prompt: str | None = None,
        reserved_for_response: int | None = None,
        expires_in_s: int | None = None,
    ) -> Flow[types.ContextOutput]:
        """Start a text for one prompt, put together memory by memory within a budget."""
        return self._post("contexts", named(locals()))

    @operation
    def get_context(self, context_id: Id) -> Flow[types.ContextOutput]:
        """Return a context with its sections."""
        return self._get(at("contexts/{}", context_id))

    @operation
    def add_to_context(
        self,
        context_id: Id,
        memory_id: Id,
        *,
        max_tokens: int | None = None,
        priority: int | None = None,
        links: types.LinksEnum | None = None,
    ) -> Flow[types.AddedOutput]:
        """Add what a memory says to a context, cut to what fits."""
        return self._post(at("contexts/{}/add", context_id), named(locals(), "context_id"))

    @operation
    def get_context_text(self, context_id: Id) -> Flow[Markdown]:
        """Return the text of a context: highest priority first."""
        return self._get(at("contexts/{}/text", context_id), read=read_markdown)

    @listing(types.RetrievalOutput)
    def list_retrievals(
        self,
        *,
        conversation_id: Id | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over receipts, newest first."""
        return self._list("retrievals", named(locals()))

    @operation
    def get_retrieval(self, retrieval_id: Id) -> Flow[types.RetrievalOutput]:
        """Return the receipt of an answer: what was asked, and every hit with its score."""
        return self._get(at("retrievals/{}", retrieval_id))

    @operation
    def replay_retrieval(self, retrieval_id: Id) -> Flow[types.ReplayOutput]:
        """Return the text that an answer served, whatever was corrected since."""
        return self._get(at("retrievals/{}/replay", retrieval_id))
