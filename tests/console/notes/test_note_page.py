"""The page of a note tells it whole; curators write there what agents write, on record."""

from __future__ import annotations

import html
import re
import uuid
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from indexing.models import Memory
from tests.admin.pages import seen
from tests.conftest import Agent
from tests.notes.graphs import UNKNOWN, link, write
from tests.notes.test_writing import change
from wings.console.notes.forms import NoteForm
from wings.notes.models import Link, Note, NoteVersion

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"
PLAN = {
    "plan_type": "boat", "total_nodes": 4, "completed_nodes": 2, "pending_nodes": 1,
    "failed_nodes": 1, "key_milestones": ["Bought a boat", "Learnt to sail"],
}  # fmt: skip
THREAD = {
    "platform": "chat", "participant_count": 1, "message_count": 8, "key_points": ["The oven"],
    "sentiment": "negative",
}  # fmt: skip


def page_of(note: Any) -> str:
    return reverse("admin:notes_note_change", args=[note])


def read(browser: Client, note: Any, **query: Any) -> str:
    answer = browser.get(page_of(note), query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def plain(text: str) -> str:
    """Return a page's words without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def fields_of(note_id: str, **changed: Any) -> dict[str, Any]:
    """Return what a browser posts of the form as the page shows it, with some fields changed."""
    form = NoteForm(note=Note.across_tenants.get(id=note_id))
    shown = {name: "" if form[name].value() is None else form[name].value() for name in form.fields}
    shown["content"] = str(shown["content"]).replace("\n", "\r\n")  # as browsers end lines
    return {f"change-{name}": value for name, value in {**shown, **changed}.items()}


def post_change(browser: Client, note: str, **changed: Any) -> Any:
    preview = {"preview": "1"} if changed.pop("preview", False) else {}
    body = {**fields_of(note, **changed), **preview}
    return browser.post(reverse("console:note_change", args=[note]), body)


def log_of(memory: Any) -> list[str]:
    """Return what people did to a memory, oldest first."""
    entries = LogEntry.objects.filter(object_id=str(memory)).order_by("id")
    return [f"{entry.user.get_username()} {entry.change_message}" for entry in entries]


def test_a_note_tells_what_it_says_how_it_feels_and_whom_it_is_about(
    auditor: Client, ana: Agent, conversation: uuid.UUID
) -> None:
    note = write(
        ana, "First line.\n\n  Second line.", label="A label", description="In short.",
        importance=0.75, category="policy", tags=["red", "blue"], user_id="u-7", source_id="s-9",
        emotion_type="relief", emotion_intensity=0.4, emotion_valence="positive",
        span={"span_id": "book-1", "start_byte": 10, "end_byte": 99},
        conversation_id=str(conversation), metadata={"shelf": {"row": 3}},
    )  # fmt: skip
    page = read(auditor, note)
    assert "First line.\n\n  Second line." in page
    words = plain(page)
    for part in (
        "A label", "In short.", "0.75", "policy", "red", "blue", "u-7", "s-9", "relief",
        "positive, 0.40 of 1", "book-1 bytes 10 to 99", "a conversation", "key ana", '"row": 3',
    ):  # fmt: skip
        assert part in words, part


def test_the_metadata_of_summaries_are_told_in_words(auditor: Client, ana: Agent) -> None:
    plan = plain(read(auditor, write_summary(ana, "plan_summary", PLAN)))
    assert "2 of 4 steps completed, 1 pending, 1 failed." in plan
    assert "Bought a boat" in plan
    thread = plain(read(auditor, write_summary(ana, "thread_summary", THREAD)))
    assert "8 messages by 1 person, in a negative mood." in thread and "The oven" in thread


def write_summary(agent: Agent, source_type: str, metadata: dict[str, Any]) -> str:
    answer = agent.post("notes", {"source_type": source_type, "metadata": metadata})
    assert answer.status_code == 201
    return str(answer.json()["id"])


def test_each_version_shows_what_it_changed_and_who_wrote_it(auditor: Client, ana: Agent) -> None:
    note = write(ana, "The old card is blocked.")
    change(ana, note, version=1, content="The old card stays open.", tags=["cards"])
    change(ana, note, version=2, label="Cards")
    page = read(auditor, note)
    assert "<del>is</del><ins>stays</ins> <del>blocked</del><ins>open</ins>" in seen(page)
    assert plain(page).count("by key ana") >= 3 and "<ins>cards</ins>" in page


def test_a_small_change_of_a_long_text_shows_only_what_stands_around(
    auditor: Client, ana: Agent
) -> None:
    text = "Nothing happens here. " * 2_500
    note = write(ana, f"{text}Now it rains. {text[:1000]}")
    change(ana, note, version=1, content=f"{text}Now it snows. {text[:1000]}")
    page = read(auditor, note)
    shown = page[page.index("note-versions") : page.index("</ol>", page.index("note-versions"))]
    assert len(shown) < 3_000 and "<del>" in shown and "… " in shown


def test_two_long_texts_with_nothing_in_common_are_compared_by_lines(
    auditor: Client, ana: Agent
) -> None:
    note = write(ana, "\n".join(f"old {at} {'a' * 20}" for at in range(1_500)))
    change(ana, note, version=1, content="\n".join(f"new {at} {'b' * 20}" for at in range(1_500)))
    assert "<ins>" in read(auditor, note)


def test_links_drawn_and_derived_name_their_other_ends(auditor: Client, ana: Agent) -> None:
    near, far, before = write(ana, "Near."), write(ana, "Far away."), write(ana, "Before.")
    link(ana, near, far, "supports")
    link(ana, before, near, "part_of")
    page = read(auditor, near)
    assert page_of(far) in page and page_of(before) in page
    assert "this supports →" in plain(page) and "← part of this" in plain(page)


def test_searches_and_contexts_that_served_a_note_lead_back_to_them(
    auditor: Client, ana: Agent
) -> None:
    note = write(ana, "The kettle sings at dawn.")
    answer = ana.post("search", {"query": "When does the kettle sing?"})
    assert answer.status_code == 200
    context = ana.post("contexts", {"max_tokens": 2000}).json()["id"]
    added = ana.post(f"contexts/{context}/add", {"memory_id": note}).json()
    assert added["added"], added
    page = read(auditor, note)
    assert "When does the kettle sing?" in page
    assert reverse("admin:retrieval_context_change", args=[context]) in page


def test_what_agents_wrote_is_escaped(curator: Client, ana: Agent) -> None:
    evil = {name: f"{SCRIPT}{name}" for name in ("label", "description", "category", "user_id")}
    note = write(ana, f"{SCRIPT} body", tags=[SCRIPT], metadata={SCRIPT: SCRIPT}, **evil)
    change(ana, note, version=1, content=f"</textarea>{SCRIPT} other", label=f'">{SCRIPT}')
    drawn = link(ana, note, write(ana, SCRIPT))
    for address in (
        page_of(note),
        f"{page_of(note)}?like=1",
        reverse("admin:notes_link_change", args=[drawn["id"]]),
        reverse("console:link_remove", args=[drawn["id"]]),
    ):
        page = curator.get(address).content.decode()
        assert SCRIPT not in page and html.escape(SCRIPT) in page, address
    page = post_change(curator, note, content=SCRIPT, preview="1").content.decode()
    assert SCRIPT not in page


@pytest.mark.gate
def test_a_page_asks_no_more_for_many_versions_links_and_answers(
    curator: Client, ana: Agent
) -> None:
    note = write(ana, "A kettle.")
    read(curator, note)  # the first page of a process asks for content types
    counts = []
    for more in (2, 12):
        for at in range(more):
            version = Note.across_tenants.get(id=note).version
            change(ana, note, version=version, content=f"A kettle, {version} {at}.")
            link(ana, note, write(ana, f"Leaf {at} of {more}."))
            ana.post("search", {"query": f"kettle {at}"})
        with CaptureQueriesContext(connection) as asked:
            read(curator, note)
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 26


def test_a_curator_writes_a_new_version_and_the_old_one_is_kept(
    curator: Client, ana: Agent
) -> None:
    note = write(ana, "One.\nTwo.", label="Label", tags=["a", "b"], importance=0.3)
    answer = post_change(curator, note, content="One.\r\nThree.", tags="a, c", reason="It was so")
    assert answer.status_code == 302 and answer["Location"] == page_of(note)
    now = Note.across_tenants.get(id=note)
    assert (now.content, now.tags, now.version) == ("One.\nThree.", ["a", "c"], 2)
    assert (now.actor, now.label, now.importance) == ("curator", "Label", 0.3)
    assert NoteVersion.across_tenants.get(note_id=note).content == "One.\nTwo."
    assert log_of(note) == ["curator wrote version 2: It was so"]
    assert "wrote version 2: It was so" in read(curator, note)
    found = ana.post("search", {"query": "Three"}).json()
    assert note in str(found)


def test_a_form_that_changes_nothing_writes_nothing(curator: Client, ana: Agent) -> None:
    note = write(ana, "  One,\n\n two.  ", tags=["x, y"], label="A  b", emotion_intensity=0.1)
    answer = post_change(curator, note, reason="just so")
    assert answer.status_code == 400 and "Nothing is different" in answer.content.decode()
    assert Note.across_tenants.get(id=note).version == 1 and log_of(note) == []


def test_a_feeling_can_be_taken_back(curator: Client, ana: Agent) -> None:
    note = write(ana, "One.", emotion_type="joy", emotion_intensity=0.5, emotion_valence="mixed")
    none = {"emotion_type": "", "emotion_intensity": "", "emotion_valence": ""}
    assert post_change(curator, note, reason="It is over", **none).status_code == 302
    now = Note.across_tenants.get(id=note)
    assert (now.emotion_type, now.emotion_intensity, now.emotion_valence) == ("", None, "")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"reason": ""}, "Say why"),
        ({"content": "", "reason": "x"}, "blank"),
        ({"importance": "2", "reason": "x"}, "less than or equal to 1"),
        ({"importance": "nan", "reason": "x"}, "Enter a number"),
        ({"category": "c" * 101, "reason": "x"}, "100"),
        ({"tags": ", ".join("abcdefghij" * 6), "reason": "x"}, "50"),
        ({"content": "a\x00b", "reason": "x"}, "Null characters"),
        ({"version": "7", "content": "y", "reason": "x"}, "version"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    curator: Client, ana: Agent, wrong: dict[str, Any], told: str
) -> None:
    note = write(ana, "One.")
    answer = post_change(curator, note, **wrong)
    assert answer.status_code == 400
    assert told in html.unescape(answer.content.decode())
    assert Note.across_tenants.get(id=note).version == 1 and log_of(note) == []


def test_who_has_read_an_older_version_writes_nothing(curator: Client, ana: Agent) -> None:
    note = write(ana, "One.")
    form = fields_of(note, content="Mine.", reason="late")
    change(ana, note, version=1, content="Two.")
    answer = curator.post(reverse("console:note_change", args=[note]), form)
    assert answer.status_code == 400 and "has changed since" in answer.content.decode()
    assert Note.across_tenants.get(id=note).content == "Two."


def test_the_difference_can_be_looked_at_first(curator: Client, ana: Agent) -> None:
    note = write(ana, "The old card is blocked.")
    answer = post_change(curator, note, content="The old card is open.", reason="x", preview="1")
    assert answer.status_code == 200 and "<ins>open</ins>" in answer.content.decode()
    assert Note.across_tenants.get(id=note).version == 1


def test_an_earlier_version_can_be_written_anew(curator: Client, ana: Agent) -> None:
    note = write(ana, "Right.", tags=["a"])
    change(ana, note, version=1, content="Wrong.", tags=[])
    page = read(curator, note, like="1")
    assert "As version 1 had it" in page and ">\r\nRight.</textarea>" in page.replace("\n", "\r\n")
    answer = post_change(curator, note, content="Right.", tags="a", reason="back")
    assert answer.status_code == 302
    now = Note.across_tenants.get(id=note)
    assert (now.content, now.tags, now.version) == ("Right.", ["a"], 3)
    for number in ("9", "x", "-1", "9" * 40, "²"):
        assert "As version" not in read(curator, note, like=number)


def test_a_curator_deletes_a_note_with_a_reason(curator: Client, ana: Agent) -> None:
    note = write(ana, "The kettle sings.")
    address = reverse("console:note_delete", args=[note])
    assert curator.post(address).status_code == 400
    assert Note.across_tenants.get(id=note).deleted_at is None
    assert curator.post(address, {"delete-reason": "A joke"}).status_code == 302
    assert ana.get(f"notes/{note}").status_code == 404
    assert log_of(note) == ["curator deleted it: A joke"]
    page = read(curator, note)
    assert "curator deleted it" in plain(page) and "The kettle sings." in page
    assert reverse("console:note_change", args=[note]) not in page
    for name in ("note_change", "note_delete"):
        again = curator.post(reverse(f"console:{name}", args=[note]), {"delete-reason": "x"})
        assert again.status_code == 404


def test_a_curator_holds_a_deleted_note_again_with_its_links(
    curator: Client, auditor: Client, ana: Agent
) -> None:
    note, far = write(ana, "The kettle sings."), write(ana, "Far.")
    link(ana, note, far)
    curator.post(reverse("console:note_delete", args=[note]), {"delete-reason": "A joke"})
    address = reverse("console:note_restore", args=[note])
    assert address in read(curator, note) and address not in read(auditor, note)
    assert auditor.post(address, {"restore-reason": "x"}).status_code == 403
    assert curator.post(address).status_code == 400
    assert curator.post(address, {"restore-reason": "It was none"}).status_code == 302
    assert log_of(note)[-1] == "curator restored it: It was none"
    assert note in str(ana.post("search", {"query": "Which kettle sings?"}).json())
    assert [item["other_id"] for item in ana.get(f"memories/{note}/links").json()["items"]] == [far]
    assert curator.post(address, {"restore-reason": "again"}).status_code == 404


def test_a_curator_draws_a_link_by_the_address_of_a_page_and_removes_it(
    curator: Client, ana: Agent
) -> None:
    near, far = write(ana, "Near."), write(ana, "Far.")
    body = {
        "from_id": near, "to_id": f"https://memory.example{page_of(far)}?x=1",
        "link_type": "supports", "next": page_of(near),
    }  # fmt: skip
    answer = curator.post(reverse("console:link_draw"), body)
    assert answer.status_code == 302 and answer["Location"] == page_of(near)
    drawn = Link.objects.of(ana.tenant).get()
    assert (str(drawn.from_memory_id), str(drawn.to_memory_id)) == (near, far)
    assert (drawn.link_type, drawn.made_by, drawn.actor) == ("supports", "person", "curator")
    assert curator.post(reverse("console:link_draw"), body).status_code == 302
    assert Link.objects.of(ana.tenant).count() == 1
    removal = reverse("console:link_remove", args=[drawn.id])
    asked = curator.get(removal).content.decode()
    assert "Near." in asked and "Far." in asked
    assert Link.objects.of(ana.tenant).count() == 1
    assert curator.post(removal)["Location"] == page_of(near)
    assert not Link.objects.of(ana.tenant).exists()
    assert curator.post(removal).status_code == 404
    assert log_of(near) == [
        f"curator created a link: supports note {far}",
        f"curator deleted a link: supports note {far}",
    ]
    assert len(log_of(far)) == 2
    assert "deleted a link" in read(curator, far)


@pytest.mark.parametrize(
    ("to", "link_type", "told"),
    [
        ("", "supports", "Say which"),
        ("somewhere", "supports", "There is no id"),
        (UNKNOWN, "supports", "no such memory"),
        ("itself", "supports", "not linked to itself"),
        ("hers", "supports", "no such memory"),
        ("gone", "supports", "no such memory"),
        ("far", "derived_from", "Select a valid choice"),
    ],
)
def test_a_link_that_cannot_be_says_why(
    curator: Client, ana: Agent, cleo: Agent, to: str, link_type: str, told: str
) -> None:
    near, gone = write(ana, "Near."), write(ana, "Gone.")
    ana.client.delete(f"/api/v0/notes/{gone}")
    ends = {"itself": near, "hers": write(cleo, "Hers."), "gone": gone, "far": write(ana, "Far.")}
    body = {"from_id": near, "to_id": ends.get(to, to), "link_type": link_type}
    answer = curator.post(reverse("console:link_draw"), body)
    assert answer.status_code == 400
    assert told in html.unescape(answer.content.decode())
    assert not Link.across_tenants.exists() and not LogEntry.objects.exists()


def test_a_link_from_nowhere_is_not_drawn(curator: Client, ana: Agent) -> None:
    body = {"from_id": UNKNOWN, "to_id": write(ana), "link_type": "supports"}
    assert curator.post(reverse("console:link_draw"), body).status_code == 404


def test_an_auditor_is_offered_no_form_and_may_post_none(auditor: Client, ana: Agent) -> None:
    near, far = write(ana, "Near."), write(ana, "Far.")
    drawn = link(ana, near, far)
    page = read(auditor, near)
    addresses = [
        reverse("console:note_change", args=[near]),
        reverse("console:note_delete", args=[near]),
        reverse("console:link_draw"),
        reverse("console:link_remove", args=[drawn["id"]]),
    ]
    for address in addresses:
        assert address not in page
        body = {"delete-reason": "x", "from_id": near, "to_id": far, "link_type": "supports"}
        assert auditor.post(address, body).status_code == 403
    assert Link.across_tenants.count() == 1
    assert Note.across_tenants.get(id=near).deleted_at is None


def test_no_record_of_an_act_holds_what_a_note_says(curator: Client, ana: Agent) -> None:
    """What erases a note need not read the log."""
    near, far = write(ana, "The canary.", label="A canary"), write(ana, "Canary, too.")
    post_change(curator, near, content="Another canary.", reason="x")
    body = {"from_id": near, "to_id": far, "link_type": "supports"}
    curator.post(reverse("console:link_draw"), body)
    curator.post(reverse("console:link_remove", args=[Link.across_tenants.get().id]))
    curator.post(reverse("console:note_delete", args=[near]), {"delete-reason": "y"})
    entries = list(LogEntry.objects.values())
    assert len(entries) == 6 and "canary" not in str(entries).lower()
    assert {entry["object_id"] for entry in entries} == {near, far}
    assert Memory.across_tenants.filter(id__in=[near, far]).count() == 2
