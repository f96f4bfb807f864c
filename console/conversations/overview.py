"""The strip above a conversation: its episodes by their place, size and surprise, in one query."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Avg, Count, F, Max, Min, Q

from episodic.models import Conversation, Episode

CELLS_AT_MOST = 160
KEY_MOMENT, FLASHBULB = 0.7, 0.85


@dataclass(frozen=True, slots=True)
class Cell:
    """An episode, or in a long conversation neighbouring ones."""

    first_seq: int
    last_seq: int
    episodes: int
    surprise: float
    """On average."""
    title: str
    """Of the first."""
    key_moments: int
    """Of its episodes, flashbulbs included."""

    @property
    def name(self) -> str:
        """Its title, or how much it covers."""
        if self.episodes == 1:
            return self.title
        plural = "" if self.key_moments == 1 else "s"
        return f"{self.episodes} episodes, {self.key_moments or 'no'} key moment{plural}"

    @property
    def weight(self) -> int:
        """How many messages it has: its share of the strip."""
        return self.last_seq - self.first_seq + 1

    @property
    def level(self) -> str:
        """`flashbulb`, `key` or `usual`; `usual` for several episodes."""
        return surprise_level(self.surprise) if self.episodes == 1 else "usual"

    @property
    def tone(self) -> int:
        """How strongly it is coloured, 0 to 4: by surprise, or by the share of key moments."""
        share = self.key_moments / self.episodes
        return min(int(self.surprise * 5 if self.episodes == 1 else share * 25), 4)


def surprise_level(surprise: float) -> str:
    """Return `flashbulb`, `key` or `usual`."""
    if surprise >= FLASHBULB:
        return "flashbulb"
    return "key" if surprise >= KEY_MOMENT else "usual"


def read_cells(conversation: Conversation) -> list[Cell]:
    """Return the episodes of a conversation in order; those that begin very near share a cell."""
    place = (F("first_seq") - 1) * CELLS_AT_MOST / max(conversation.next_seq - 1, 1)
    bins = (
        Episode.objects.of(conversation.tenant)
        .filter(conversation=conversation)
        .annotate(place=place)
        .values_list("place")
        .annotate(
            Min("first_seq"),
            Max("last_seq"),
            Count("id"),
            Avg("surprise"),
            Min("title"),
            key_moments=Count("id", filter=Q(surprise__gte=KEY_MOMENT)),
        )
        .order_by("place")
    )
    return [Cell(*row[1:]) for row in bins]
