"""The links around a memory are told: named, bounded, of one tenant, nothing deleted."""

from __future__ import annotations

import html
import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from episodic.models import Episode
from semantic.models import Fact
from tests.conftest import Agent
from tests.console.visitors import visit_as
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.notes.graphs import UNKNOWN, link, write
from tests.retrieval.test_forged_links import forge

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"


def look(browser: Client, memory: Any, status: int = 200, **query: Any) -> Any:
    answer = browser.get(reverse("console:graph", args=[memory]), query)
    assert answer.status_code == status
    return answer


def drawn(answer: Any) -> set[str]:
    """Return the ids of the memories that are shown."""
    return set(map(str, answer.context["graph"].named))


def rows(answer: Any) -> list[tuple[str, str, str]]:
    """Return the links of the table: from, type, to."""
    told = answer.context["rows"]
    return [(str(start.id), link.link_type, str(goal.id)) for link, _, start, goal in told]


def text_of(answer: Any) -> str:
    return str(answer.content.decode())


@pytest.fixture
def star(ana: Agent) -> tuple[str, str, str, str]:
    """A centre that supports one note, is mentioned by another, which leads to a fourth."""
    centre, near, other, far = (write(ana, f"Note {name}.") for name in "ABCD")
    link(ana, centre, near, "supports")
    link(ana, other, centre, "mentions")
    link(ana, other, far, "contradicts")
    link(ana, near, other, "relates_to")
    return centre, near, other, far


def test_a_table_shows_the_links_with_type_and_direction(
    curator: Client, star: tuple[str, str, str, str]
) -> None:
    centre, near, other, far = star
    answer = look(curator, centre)
    assert drawn(answer) == set(star)
    expected = {
        (centre, "supports", near),
        (other, "mentions", centre),
        (other, "contradicts", far),
        (near, "relates_to", other),
    }
    assert set(rows(answer)) == expected and len(rows(answer)) == len(expected)
    table = text_of(answer).partition("<tbody>")[2].partition("</tbody>")[0]
    for memory in star:
        assert reverse("admin:notes_note_change", args=[memory]) in table


def test_the_depth_is_what_was_asked_for_and_at_most_three(
    curator: Client, ana: Agent, star: tuple[str, str, str, str]
) -> None:
    centre, near, other, far = star
    farther = write(ana, "E.")
    farthest = write(ana, "F.")
    link(ana, far, farther)
    link(ana, farther, farthest)
    assert drawn(look(curator, centre, depth=1)) == {centre, near, other}
    assert drawn(look(curator, centre)) == {centre, near, other, far}
    assert drawn(look(curator, centre, depth=3)) == {*star, farther}
    for rubbish in ("9", "-1", "x"):
        assert drawn(look(curator, centre, depth=rubbish)) == {centre, near, other, far}


def test_only_links_of_the_chosen_types_are_followed(
    curator: Client, star: tuple[str, str, str, str]
) -> None:
    centre, _, other, far = star
    answer = look(curator, centre, types=["mentions", "contradicts"])
    assert drawn(answer) == {centre, other, far}
    assert 'value="mentions" checked' in text_of(answer)
    assert "types=mentions&amp;types=contradicts" in text_of(answer)  # kept on the way on
    none = look(curator, centre, types="part_of")
    assert not none.context["graph"].nodes and "No link of these types" in text_of(none)


@pytest.mark.gate
def test_of_a_hub_sixty_are_drawn_in_as_many_queries_as_three_and_it_says_that_more_lie_there(
    curator: Client, ana: Agent
) -> None:
    hub = write(ana, "Hub.")
    look(curator, hub)  # the first page of a process asks for content types
    counts = []
    for more in (3, 60):
        for at in range(more):
            link(ana, hub, write(ana, f"Leaf {at}."))
        with CaptureQueriesContext(connection) as asked:
            answer = look(curator, hub)
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 23
    assert len(drawn(answer)) == 61 and len(rows(answer)) == 60
    assert "the 60 nearest are shown" in " ".join(text_of(answer).split())


def test_a_memory_by_itself_says_what_to_do(curator: Client, auditor: Client, ana: Agent) -> None:
    alone = write(ana, "Alone.")
    page = text_of(look(curator, alone))
    assert "linked with nothing yet" in page and reverse("console:link_draw") in page
    page = text_of(look(auditor, alone))
    assert "by a curator" in page and reverse("console:link_draw") not in page


def test_facts_and_episodes_have_a_graph_that_their_pages_lead_to(
    auditor: Client, ana: Agent, told: uuid.UUID
) -> None:
    fact = Fact.objects.of(ana.tenant).order_by("id")[0]
    episode = Episode.objects.of(ana.tenant).order_by("id")[0]
    for kind, row in (("semantic_fact", fact), ("episodic_episode", episode)):
        page = auditor.get(reverse(f"admin:{kind}_change", args=[row.id])).content.decode()
        assert reverse("console:graph", args=[row.id]) in page
    answer = look(auditor, fact.id, depth=3)
    kinds = {named.kind for named in answer.context["graph"].named.values()}
    assert kinds == {"fact", "episode"}
    assert {"derived_from", "next"} == {link_type for _, link_type, _ in rows(answer)}
    assert html.escape(fact.fact) in text_of(answer)


def test_a_fact_that_is_over_is_drawn_as_such(curator: Client, ana: Agent, told: uuid.UUID) -> None:
    old, new = Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("id")[:2]
    old.invalid_at, old.invalidated_because, old.superseded_by = new.created_at, "superseded", new
    Fact.across_tenants.bulk_update([old], ["invalid_at", "invalidated_because", "superseded_by"])
    answer = look(curator, new.id, depth=1)
    assert (str(new.id), "supersedes", str(old.id)) in rows(answer)
    assert '<span class="console-badge warn">superseded</span>' in text_of(answer)


def test_what_agents_wrote_is_escaped(curator: Client, ana: Agent) -> None:
    near = write(ana, "x", label=f"{SCRIPT} \"'><svg onload=1>", category=SCRIPT)
    far = write(ana, "y", label=f"</title></svg>{SCRIPT}")
    link(ana, near, far)
    page = text_of(look(curator, near))
    assert SCRIPT not in page and "<svg onload" not in page and "</title></svg><" not in page
    assert html.escape(SCRIPT) in page


def test_a_deleted_note_is_not_drawn_and_has_no_graph(curator: Client, ana: Agent) -> None:
    near, gone, far = (write(ana, f"Secret {name}.") for name in "ABC")
    link(ana, near, gone)
    link(ana, gone, far)
    assert drawn(look(curator, near)) == {near, gone, far}
    ana.client.delete(f"/api/v0/notes/{gone}")
    answer = look(curator, near)
    assert "linked with nothing yet" in text_of(answer) and "Secret B." not in text_of(answer)
    look(curator, gone, 404)
    look(curator, UNKNOWN, 404)


@pytest.mark.django_db(transaction=True)
def test_a_strangers_memories_are_not_drawn_even_by_a_forged_edge(
    boss: Client, ana: Agent, cleo: Agent, settings: Settings
) -> None:
    mine, near = write(ana, "Mine."), write(ana, "Near.")
    hers = write(cleo, "The treasure lies under the oak.", label="Treasure")
    link(ana, mine, near)
    link(cleo, hers, write(cleo, "Dig deep.", label="Treasure map"))
    before = text_of(look(boss, mine, depth=3))
    forge(settings, ana, (mine, hers), (hers, near))
    forge(settings, cleo, (mine, hers), (hers, near))
    answer = look(boss, mine, depth=3)
    assert drawn(answer) == {mine, near} and len(rows(answer)) == 1
    assert "Treasure" not in text_of(answer) and hers not in text_of(answer)
    token = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')
    assert token.sub("", text_of(answer)) == token.sub("", before)
    assert drawn(look(boss, hers, depth=1)) & {mine, near} == set()


@pytest.mark.parametrize("letter", ["operator", ""])
def test_who_sees_no_memory_sees_no_graph(ana: Agent, letter: str) -> None:
    note = write(ana, "Mine.")
    look(visit_as(letter), note, 403)
