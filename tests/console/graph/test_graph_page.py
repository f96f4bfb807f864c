"""What lies around a memory is drawn and told: named, bounded, of one tenant, nothing deleted."""

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
    """Return the ids of the memories in the picture."""
    return set(re.findall(r'data-memory="([^"]+)"', text_of(answer)))


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


def test_a_picture_and_a_table_show_the_same_links_with_type_and_direction(
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
    picture = text_of(answer).partition("data-graph>")[2].partition("</section>")[0]
    for words in ("→ supports", "mentions →"):
        assert words in picture
    for memory in star:
        assert reverse("admin:notes_note_change", args=[memory]) in picture
    assert picture.count('tabindex="-1"') == picture.count("<a ")
    lines = {(line["from"], line["to"]): line for line in answer.context["picture"]["lines"]}
    assert len(lines) == len(expected)
    assert lines[centre, near]["ends"] and not lines[centre, near]["starts"]
    assert lines[centre, other]["starts"] and not lines[centre, other]["ends"]
    assert lines[other, far]["tone"] == "against"
    assert [line["name"] for line in lines.values() if line["name"]] == ["relates to"]


def test_what_the_centre_points_at_lies_right_and_what_points_at_it_left(
    curator: Client, star: tuple[str, str, str, str]
) -> None:
    centre, near, other, far = star
    trees = look(curator, centre).context["picture"]["trees"]
    assert [str(box.named.id) for box in trees["right"]] == [near]
    (left,) = trees["left"]
    assert str(left.named.id) == other and str(left.children[0].named.id) == far


def test_a_side_that_would_be_far_longer_is_shared(curator: Client, ana: Agent) -> None:
    hub = write(ana, "Hub.")
    for at in range(20):
        link(ana, write(ana, f"Leaf {at}."), hub)
    picture = look(curator, hub).context["picture"]
    assert [len(picture["trees"][side]) for side in ("left", "right")] == [10, 10]


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


def test_where_more_lies_it_is_said_how_much(curator: Client, ana: Agent) -> None:
    hub, edge = write(ana, "Hub."), write(ana, "Edge.")
    link(ana, hub, edge)
    leaves = [write(ana, f"Leaf {at}.") for at in range(3)]
    for leaf in leaves:
        link(ana, edge, leaf)
    answer = look(curator, hub, depth=1)
    assert answer.context["graph"].hidden[uuid.UUID(edge)] == 3
    assert ">+3</a>" in text_of(answer) and "graph-cut" not in text_of(answer)


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
    assert re.search(r'class="node fact over"', text_of(answer))


def test_what_agents_wrote_is_escaped_in_the_picture_and_in_the_table(
    curator: Client, ana: Agent
) -> None:
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
    assert answer.context["graph"].hidden[uuid.UUID(mine)] == 0
    token = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')
    assert token.sub("", text_of(answer)) == token.sub("", before)
    assert drawn(look(boss, hers, depth=1)) & {mine, near} == set()


@pytest.mark.parametrize("letter", ["operator", ""])
def test_who_sees_no_memory_sees_no_graph(ana: Agent, letter: str) -> None:
    note = write(ana, "Mine.")
    look(visit_as(letter), note, 403)
