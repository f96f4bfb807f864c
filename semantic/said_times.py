"""Finds when and in which conversations facts were said: the newer statement is the current one.

Facts may be extracted from a user's conversations in any order, as an old one may be posted later.
Within one conversation the order of extraction is the order of speaking.
"""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from episodic.models import Conversation, Message
from semantic.models import Evidence, Fact


class Saying(NamedTuple):
    """When a fact was last said, and whether in the current conversation."""

    at: datetime
    is_here: bool


class SaidTimes:
    """Looks up, when needed, the evidence of facts for a run in one conversation.

    Without a user nothing is looked up: all facts are the conversation's own.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._stored: dict[uuid.UUID, Sequence[Saying]] = {}
        self._noted: defaultdict[uuid.UUID, list[Saying]] = defaultdict(list)

    def is_elsewhere(self, fact: Fact) -> bool:
        """Return whether another conversation of the user states a fact, alone or with this one."""
        if not self._conversation.user_id:
            return False
        is_home = fact.conversation_id == self._conversation.id
        return not is_home or not all(saying.is_here for saying in self._read(fact))

    def may_end(self, fact: Fact, *, at: datetime) -> bool:
        """Return whether a statement made in this conversation `at` a moment may end a fact.

        It may where this conversation has said the fact itself, and no other one has since.
        """
        if not self.is_elsewhere(fact):
            return True
        is_home = fact.conversation_id == self._conversation.id
        is_here = is_home or any(saying.is_here for saying in self._read(fact))
        return is_here and all(saying.at <= at for saying in self._read(fact) if not saying.is_here)

    def last(self, fact: Fact) -> datetime:
        """Return when a fact was last said; without evidence, since when it is true."""
        return max((saying.at for saying in self._read(fact)), default=fact.valid_at)

    def note(self, fact: Fact, at: datetime) -> None:
        """Remember the moment of a statement that this run uses; nothing is stored."""
        self._noted[fact.id].append(Saying(at, is_here=True))

    def _read(self, fact: Fact) -> Sequence[Saying]:
        """Return the valid evidence of a fact, unordered: two queries, run once."""
        if fact.id not in self._stored:
            rows = Evidence.objects.of(self._conversation.tenant).filter(fact=fact)
            evidence = list(rows.filter(withdrawn_by=None).select_related("episode"))
            self._stored[fact.id] = self._read_sayings(evidence)
        return [*self._stored[fact.id], *self._noted[fact.id]]

    def _read_sayings(self, evidence: Sequence[Evidence]) -> Sequence[Saying]:
        """Return when each row's last message was said; for a whole episode, its end."""
        messages = Message.objects.of(self._conversation.tenant).filter(
            episode__in=[row.episode_id for row in evidence],
            seq__in={seq for row in evidence for seq in row.message_seqs},
        )
        times = {(row.episode_id, row.seq): row.occurred_at for row in messages.defer("content")}
        sayings = []
        for row in evidence:
            places = ((row.episode_id, seq) for seq in row.message_seqs)
            said = [times[place] for place in places if place in times]
            is_here = row.episode.conversation_id == self._conversation.id
            sayings.append(Saying(max(said, default=row.episode.end_at), is_here))
        return sayings
