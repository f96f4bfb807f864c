"""A whole conversation at a glance: its episodes by their place, size and surprise.

However long it is, a strip and a curve have at most `CELLS_AT_MOST` parts, from two queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Avg, Count, F, IntegerField, Max, Min, Q, QuerySet
from django.db.models.functions import Cast
from django.utils.text import Truncator

from console.charts import Chart, Series
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
    highest: float
    key_moments: int
    """Of its episodes, flashbulbs included."""
    title: str
    """Of the first."""

    @property
    def name(self) -> str:
        """What a reader is told of it."""
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
        """`flashbulb`, `key` or `usual`; of several episodes the tone tells instead."""
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
    """Return the episodes of a conversation in order; neighbours share a cell where many are."""
    episodes = Episode.objects.of(conversation.tenant).filter(conversation=conversation)
    columns = ("first_seq", "last_seq", "surprise", "title")
    rows = episodes.order_by("first_seq").values(*columns)[: CELLS_AT_MOST + 1]
    if len(rows) <= CELLS_AT_MOST:
        return [
            Cell(
                **row,
                episodes=1,
                highest=row["surprise"],
                key_moments=int(row["surprise"] >= KEY_MOMENT),
            )
            for row in rows
        ]
    return _merge_neighbours(episodes, messages=conversation.next_seq - 1)


def _merge_neighbours(episodes: QuerySet[Episode], *, messages: int) -> list[Cell]:
    place = Cast((F("first_seq") - 1) * CELLS_AT_MOST / messages, IntegerField())
    bins = (
        episodes.annotate(place=place)
        .values("place")
        .annotate(
            first=Min("first_seq"),
            last=Max("last_seq"),
            count=Count("id"),
            mean=Avg("surprise"),
            most=Max("surprise"),
            keys=Count("id", filter=Q(surprise__gte=KEY_MOMENT)),
            name=Min("title"),
        )
        .order_by("place")
    )
    return [
        Cell(
            first_seq=row["first"],
            last_seq=row["last"],
            episodes=row["count"],
            surprise=row["mean"],
            highest=row["most"],
            key_moments=row["keys"],
            title=row["name"],
        )
        for row in bins
    ]


def draw_surprise(cells: Sequence[Cell], links: Sequence[str]) -> Chart | None:
    """Return the curve of surprise, key moments marked; None: nothing to see yet."""
    if len(cells) < 2:
        return None
    means = Series("surprise", [round(cell.surprise, 2) for cell in cells], fill=True)
    if any(cell.episodes > 1 for cell in cells):
        title = "Surprise, several episodes a point"
        highest = [round(cell.highest, 2) for cell in cells]
        series = [replace(means, name="on average"), Series("highest", highest, colour="grey")]
    else:
        title = "Surprise, episode by episode"
        marks = [("key", "key moment", "orange"), ("flashbulb", "flashbulb", "red")]
        series = [means, *(mark for one in marks for mark in _mark(cells, *one))]
    return Chart(
        key="surprise",
        title=title,
        kind="line",
        labels=[_label(cell) for cell in cells],
        series=series,
        links=links,
        y_max=1.0,
        height_px=140,
    )


def _mark(cells: Sequence[Cell], level: str, name: str, colour: str) -> list[Series]:
    """Return the points of one level, or nothing where there are none."""
    values = [round(cell.surprise, 2) if cell.level == level else None for cell in cells]
    return [Series(name, values, colour=colour, points_only=True)] if any(values) else []


def _label(cell: Cell) -> str:
    words = Truncator(cell.title).chars(24) if cell.episodes == 1 else ""
    return f"#{cell.first_seq}–{cell.last_seq} {words}".rstrip()
