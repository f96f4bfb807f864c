"""Operations on what is known: facts, episodes, changesets, suggestions, rollbacks, erasures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from memory_server_client import types
from memory_server_client.core import Call, Calls, Flow, Id, Moment, at, named
from memory_server_client.faces import Operation as operation
from memory_server_client.faces import listing


class Curating(Calls):
    """What looks at knowledge and changes it, and what looks after the server."""

    @listing(types.ListedFact)
    def list_facts(
        self,
        *,
        conversation_id: Id | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        category: types.CategoryEnum | None = None,
        keyword: str | None = None,
        state: Literal["active", "invalid", "all", "waiting"] | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over facts, newest first; active ones if nothing is said.

        Args:
            state: `waiting` are those pending review; it needs the scope `curate`.
            as_of: those that were true then, retired ones too; not with `state`.
            known_at: those that the server believed then; not with `state`.
        """
        return self._list("facts", named(locals()))

    @operation
    def get_fact(self, fact_id: Id) -> Flow[types.DetailedFact]:
        """Return a fact with its evidence, every change of it, and its versions."""
        return self._get(at("facts/{}", fact_id))

    @operation
    def invalidate_fact(
        self,
        fact_id: Id,
        *,
        because: types.BecauseEnum,
        reason: str,
        case_id: Id | None = None,
    ) -> Flow[types.CuratedFact]:
        """Retire a fact: it is over (`superseded`), or was never true (`wrong`).

        Args:
            case_id: the receipt of the answer that led to it; kept with the reason.
        """
        return self._post(at("facts/{}/invalidate", fact_id), named(locals(), "fact_id"))

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
        case_id: Id | None = None,
    ) -> Flow[types.CuratedFact]:
        """Replace a fact by a better one on the same evidence, and return that.

        Args:
            version: the one that you have read; refused where it has changed since.
            case_id: the receipt of the answer that led to it; kept with the reason.
        """
        return self._post(at("facts/{}/correct", fact_id), named(locals(), "fact_id"))

    @operation
    def approve_fact(self, fact_id: Id, *, reason: str) -> Flow[types.CuratedFact]:
        """Approve a fact that is pending review: from then on it is served."""
        return self._post(at("facts/{}/approve", fact_id), {"reason": reason})

    @operation
    def reject_fact(self, fact_id: Id, *, reason: str) -> Flow[types.CuratedFact]:
        """Reject a fact that is pending review."""
        return self._post(at("facts/{}/reject", fact_id), {"reason": reason})

    @operation
    def list_marks(self, fact_id: Id) -> Flow[types.MarksOutput]:
        """Return the places that still say what a person declared wrong, corrected or ended."""
        return self._get(at("facts/{}/marks", fact_id))

    @operation
    def decide_marks(
        self,
        fact_id: Id,
        mark_ids: Sequence[Id],
        *,
        decision: types.MarksInputDecisionEnum,
        reason: str,
    ) -> Flow[types.MarksOutput]:
        """Confirm or drop marks of a fact, or quarantine the messages among their places."""
        body = {"mark_ids": list(mark_ids), "decision": decision, "reason": reason}
        return self._post(at("facts/{}/marks", fact_id), body)

    @listing(types.ListedEpisode)
    def list_episodes(
        self,
        *,
        conversation_id: Id | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over episodes, newest first.

        Args:
            as_of: those that had begun then.
            known_at: those that there were then.
        """
        return self._list("episodes", named(locals()))

    @operation
    def get_episode(self, episode_id: Id) -> Flow[types.DetailedEpisode]:
        """Return an episode with its messages and the facts that it supports."""
        return self._get(at("episodes/{}", episode_id))

    @listing(types.ChangesetOutput)
    def list_changesets(
        self,
        *,
        conversation_id: Id | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        kind: types.ChangesetKindEnum | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over changesets, newest first."""
        return self._list("changesets", named(locals()))

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

    @operation
    def diff(
        self,
        *,
        conversation_id: Id | None = None,
        from_: Moment | None = None,
        to: Moment | None = None,
    ) -> Flow[types.DiffOutput]:
        """Return which facts came, ended or were corrected between two moments, by whom and why.

        Args:
            from_: the earlier moment, the API's `from`; default: before all.
            to: the later moment, included; default: now.
        """
        return self._get("diff", {"conversation_id": conversation_id, "from": from_, "to": to})

    @listing(types.SuggestionOutput)
    def list_suggestions(
        self,
        *,
        conversation_id: Id | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        kind: types.SuggestionOutputKindEnum | None = None,
        open: bool | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over pairs of facts that seem to contradict or repeat each other.

        Args:
            open: those pending a decision (the default), or the others.
        """
        return self._list("suggestions", named(locals()))

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
        return self._list("rollbacks", named(locals()))

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
        return self._list("erasures", named(locals()))

    @operation
    def erase(
        self,
        scope: types.ErasureScopeEnum,
        id: Id,
        *,
        reason: str,
        dry_run: bool | None = None,
        shared: Mapping[str, str] | None = None,
    ) -> Flow[types.ErasureOutput]:
        """Erase something with all that was made of it, for good: there is no way back.

        Args:
            scope: message, conversation, note, user (all notes of one), person, import,
                retention (what a policy no longer keeps) or tenant.
            id: whose; of a user, your own id; of an import its changeset, of a retention policy
                its own.
            dry_run: only count what would be erased; of a person the answer lists where.
            shared: of a person, by the id of a conversation that others share, what goes of it:
                words (what they said), replies (what the assistant said to them, too) or all.
        """
        body = {"scope": scope, "id": id, "reason": reason, "dry_run": dry_run, "shared": shared}
        return self._post("erasures", body)

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
