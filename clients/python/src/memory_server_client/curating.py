"""Operations on what is known: facts, episodes, changesets, suggestions, rollbacks, erasures."""

from __future__ import annotations

from typing import Any, Literal

from memory_server_client import types
from memory_server_client.core import Call, Calls, Flow, Id, Moment, at
from memory_server_client.faces import Operation as operation
from memory_server_client.faces import listing


class Curating(Calls):
    """What looks at knowledge and changes it, and what looks after the server."""

    @listing(types.ListedFact)
    def list_facts(
        self,
        *,
        conversation_id: Id | None = None,
        category: types.CategoryEnum | None = None,
        state: Literal["active", "invalid", "all", "waiting"] | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over facts, newest first; active ones if nothing is said.

        Args:
            state: `waiting` are those pending review; it needs the scope `curate`.
        """
        query = {"conversation_id": conversation_id, "category": category, "state": state}
        return self._list("facts", {**query, "limit": page_size})

    @operation
    def get_fact(self, fact_id: Id) -> Flow[types.DetailedFact]:
        """Return a fact with its evidence, every change of it, and its versions."""
        return self._get(at("facts/{}", fact_id))

    @operation
    def invalidate_fact(
        self, fact_id: Id, *, because: types.BecauseEnum, reason: str
    ) -> Flow[types.CuratedFact]:
        """Retire a fact: it is over (`superseded`), or was never true (`wrong`)."""
        return self._post(
            at("facts/{}/invalidate", fact_id), {"because": because, "reason": reason}
        )

    @operation
    def restore_fact(self, fact_id: Id, *, reason: str) -> Flow[types.CuratedFact]:
        """Restore a fact that was retired."""
        return self._post(at("facts/{}/restore", fact_id), {"reason": reason})

    @operation
    def correct_fact(
        self,
        fact_id: Id,
        fact: str,
        *,
        reason: str,
        category: types.CategoryEnum | None = None,
        keywords: list[str] | None = None,
        version: int | None = None,
    ) -> Flow[types.CuratedFact]:
        """Replace a fact by a better one on the same evidence, and return that.

        Args:
            version: the one that you have read; refused where it has changed since.
        """
        body = {"fact": fact, "reason": reason, "category": category}
        address = at("facts/{}/correct", fact_id)
        return self._post(address, {**body, "keywords": keywords, "version": version})

    @operation
    def approve_fact(self, fact_id: Id, *, reason: str) -> Flow[types.CuratedFact]:
        """Approve a fact that is pending review: from then on it is served."""
        return self._post(at("facts/{}/approve", fact_id), {"reason": reason})

    @operation
    def reject_fact(self, fact_id: Id, *, reason: str) -> Flow[types.CuratedFact]:
        """Reject a fact that is pending review."""
        return self._post(at("facts/{}/reject", fact_id), {"reason": reason})

    @listing(types.ListedEpisode)
    def list_episodes(
        self, *, conversation_id: Id | None = None, page_size: int | None = None
    ) -> Call:
        """Iterate over episodes, newest first."""
        return self._list("episodes", {"conversation_id": conversation_id, "limit": page_size})

    @operation
    def get_episode(self, episode_id: Id) -> Flow[types.DetailedEpisode]:
        """Return an episode with its messages and the facts that it supports."""
        return self._get(at("episodes/{}", episode_id))

    @listing(types.ChangesetOutput)
    def list_changesets(
        self,
        *,
        conversation_id: Id | None = None,
        kind: types.ChangesetKindEnum | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over changesets, newest first."""
        query = {"conversation_id": conversation_id, "kind": kind}
        return self._list("changesets", {**query, "limit": page_size})

    @operation
    def get_changeset(
        self, changeset_id: Id, *, after: int | None = None, limit: int | None = None
    ) -> Flow[types.DetailedChangeset]:
        """Return who changed facts and why, and up to `limit` steps `after` a position."""
        return self._get(at("changesets/{}", changeset_id), {"after": after, "limit": limit})

    @operation
    def plan_revert(self, changeset_id: Id) -> Flow[types.PlanOutput]:
        """Return what reverting a changeset would do now; nothing is written."""
        return self._get(at("changesets/{}/revert", changeset_id))

    @operation
    def revert_changeset(
        self, changeset_id: Id, *, reason: str, leave_conflicts: bool | None = None
    ) -> Flow[types.ChangesetOutput]:
        """Revert a changeset by a new one, which can be reverted too."""
        address = at("changesets/{}/revert", changeset_id)
        return self._post(address, {"reason": reason, "leave_conflicts": leave_conflicts})

    @listing(types.SuggestionOutput)
    def list_suggestions(
        self,
        *,
        conversation_id: Id | None = None,
        kind: types.SuggestionOutputKindEnum | None = None,
        open: bool | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over pairs of facts that seem to contradict or repeat each other.

        Args:
            open: those pending a decision (the default), or the others.
        """
        pending = None if open is None else str(open).lower()
        query = {"conversation_id": conversation_id, "kind": kind, "open": pending}
        return self._list("suggestions", {**query, "limit": page_size})

    @operation
    def accept_suggestion(
        self, suggestion_id: Id, *, reason: str | None = None
    ) -> Flow[types.SuggestionOutput]:
        """Retire the older fact, or of duplicates the shorter one."""
        return self._post(at("suggestions/{}/accept", suggestion_id), {"reason": reason})

    @operation
    def decline_suggestion(
        self, suggestion_id: Id, *, reason: str | None = None
    ) -> Flow[types.SuggestionOutput]:
        """Leave both facts active; they are not suggested again."""
        return self._post(at("suggestions/{}/decline", suggestion_id), {"reason": reason})

    @listing(types.RollbackOutput)
    def list_rollbacks(self, *, page_size: int | None = None) -> Call:
        """Iterate over rollbacks of sources, newest first."""
        return self._list("rollbacks", {"limit": page_size})

    @operation
    def roll_back(
        self,
        *,
        since: Moment,
        reason: str,
        key_id: Id | None = None,
        conversation_id: Id | None = None,
        speaker: str | None = None,
        role: types.RoleEnum | None = None,
        dry_run: bool | None = None,
    ) -> Flow[types.RollbackOutput]:
        """Revert everything that came from a source since some moment.

        Args:
            key_id, conversation_id, speaker, role: the source; at least one.
            dry_run: only count what it would do.
        """
        source = {"key_id": key_id, "conversation_id": conversation_id, "speaker": speaker}
        body = {"since": since, "reason": reason, "role": role, "dry_run": dry_run}
        return self._post("rollbacks", {**source, **body})

    @operation
    def get_rollback(self, rollback_id: Id) -> Flow[types.RollbackOutput]:
        """Return a rollback, and how far it is."""
        return self._get(at("rollbacks/{}", rollback_id))

    @operation
    def lift_rollback(self, rollback_id: Id, *, reason: str) -> Flow[types.RollbackOutput]:
        """End the quarantine of a source: its messages are processed like new ones."""
        return self._post(at("rollbacks/{}/lift", rollback_id), {"reason": reason})

    @listing(types.ErasureOutput)
    def list_erasures(self, *, page_size: int | None = None) -> Call:
        """Iterate over what was erased, newest first."""
        return self._list("erasures", {"limit": page_size})

    @operation
    def erase(
        self, scope: types.ScopeEnum, id: Id, *, reason: str, dry_run: bool | None = None
    ) -> Flow[types.ErasureOutput]:
        """Erase something with all that was made of it, for good: there is no way back.

        Args:
            scope: message, conversation, note, user (all notes of one), import or tenant.
            id: whose; of a user, your own id.
            dry_run: only count what would be erased.
        """
        return self._post(
            "erasures", {"scope": scope, "id": id, "reason": reason, "dry_run": dry_run}
        )

    @operation
    def get_erasure(self, erasure_id: Id) -> Flow[types.ErasureOutput]:
        """Return what was erased, and how far it is."""
        return self._get(at("erasures/{}", erasure_id))

    @operation
    def get_usage(self, *, days: int | None = None) -> Flow[types.UsageOutput]:
        """Return what the language model cost, by day, purpose and model."""
        return self._get("usage", {"days": days})

    @operation
    def whoami(self) -> Flow[types.WhoAmIOutput]:
        """Return the tenant and the key behind your secret, its scopes and its limits."""
        return self._get("whoami")

    @operation
    def health_live(self) -> Flow[dict[str, Any]]:
        """Return whether the server's process runs."""
        return self._get("health/live")

    @operation
    def health_ready(self) -> Flow[dict[str, Any]]:
        """Return whether it can serve, and what is away if it cannot."""
        return self._get("health/ready", fine=(503,))
