"""Operations on people: who is known under which names and ids, and what is theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from memory_server_client import types
from memory_server_client.core import Call, Calls, Flow, Id, at, named
from memory_server_client.faces import Operation as operation
from memory_server_client.faces import listing


class People(Calls):
    """What adds, merges and exports people; `erase` with the scope `person` erases one."""

    @listing(types.PersonOutput)
    def list_people(
        self,
        *,
        user_id: str | None = None,
        speaker: str | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over people, newest first: all, or who has this user id or speaker's name."""
        return self._list("people", named(locals()))

    @operation
    def add_person(
        self,
        name: str,
        *,
        user_ids: Sequence[str] | None = None,
        speakers: Sequence[str] | None = None,
    ) -> Flow[types.DetailedPerson]:
        """Say that some user ids and names of speakers are one person.

        Args:
            name: what people call them.
            user_ids: theirs, of conversations and notes, by your own ids.
            speakers: names under which they speak: the `name` of messages.
        """
        return self._post("people", named(locals()))

    @operation
    def get_person(self, person_id: Id) -> Flow[types.DetailedPerson]:
        """Return under which names and ids a person is known, and how much is theirs."""
        return self._get(at("people/{}", person_id))

    @listing(dict[str, Any])
    def export_person(
        self,
        person_id: Id,
        *,
        kind: Literal["conversations", "messages", "episodes", "facts", "notes", "answers"]
        | None = None,
        page_size: int | None = None,
    ) -> Call:
        """Iterate over all of one kind that is a person's; messages if nothing is said."""
        return self._list(at("people/{}/export", person_id), named(locals(), "person_id"))

    @operation
    def merge_person(
        self, person_id: Id, into_id: Id, *, reason: str
    ) -> Flow[types.DetailedPerson]:
        """Say that a person is another one, who then has all that was the first one's."""
        return self._post(at("people/{}/merge", person_id), {"into_id": into_id, "reason": reason})

    @operation
    def unmerge_person(self, person_id: Id, *, reason: str) -> Flow[types.DetailedPerson]:
        """Undo that a person was merged into another."""
        return self._post(at("people/{}/unmerge", person_id), {"reason": reason})
