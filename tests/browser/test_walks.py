"""What people come to the admin for, from the login to the end, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from playwright.sync_api import Page, expect

from episodic.models import Conversation, Reveal
from jobs.draining import drain_jobs
from jobs.models import Job
from memoryproject.tenancy import key_usage
from semantic.models import Changeset, Fact, Suggestion
from tests.browser.conftest import Visit
from tests.browser.story import LONELY, WRONG_SENTENCE, Story
from tests.browser.test_screens import WCAG, find_faults, keep_picture
from tests.conftest import make_agent
from tests.semantic.learning import Talk, contradicts, new
from wings.notes.models import Link, Note

pytestmark = pytest.mark.gate
LogIn = Callable[..., Visit]


def ask_playground(tab: Visit, story: Story, query: str) -> str:
    """Return the markdown that an agent would get for a question about Nora."""
    asked = {
        "tenant": story.agent.tenant.name,
        "conversation_id": story.nora,
        "query": query,
    }
    tab.open(f"{reverse('console:playground')}?{urlencode(asked)}")
    return tab.page.locator("pre").first.inner_text()


def test_a_curator_finds_a_wrong_fact_ends_it_and_undoes_it(visit: LogIn, story: Story) -> None:
    tab = visit("curator")
    page = tab.page
    page.get_by_role("searchbox").first.fill('"summer house in Ystad"')
    page.keyboard.press("Enter")
    page.get_by_role("link", name=WRONG_SENTENCE).first.click()
    expect(page.locator(".fact-sentence")).to_have_text(WRONG_SENTENCE)
    said = page.get_by_role("region", name="Sources")
    expect(said).to_contain_text("Front desk")
    expect(said).to_contain_text("I have unblocked the old card until Friday.")
    address = page.url
    assert WRONG_SENTENCE in ask_playground(tab, story, "Does Nora have dogs?")

    page.goto(address)
    tab.press("i")
    form = page.locator("#invalidate form")
    form.get_by_label(re.compile("wrong")).check()
    form.get_by_label("Reason").fill("The front desk mixed two customers up.")
    form.get_by_role("button", name="Retire it").click()
    expect(page.get_by_role("status")).to_contain_text("The front desk mixed two customers up.")
    fact = Fact.objects.of(story.agent.tenant).get(fact=WRONG_SENTENCE)
    assert fact.invalidated_because == Fact.Because.WRONG
    after = page.url
    done = Changeset.objects.of(story.agent.tenant).latest("id")
    assert (done.actor, done.kind) == ("curator", Changeset.Kind.CURATION)
    assert WRONG_SENTENCE not in ask_playground(tab, story, "Does Nora have dogs?")

    page.goto(after)
    expect(page.get_by_text("declared it wrong")).to_be_visible()
    page.get_by_role("button", name=re.compile("Undo")).click()
    expect(page.locator(".fact-tags")).to_contain_text("active")
    fact.refresh_from_db()
    assert fact.invalid_at is None
    undone = Changeset.objects.of(story.agent.tenant).latest("id")
    assert (undone.reverts_id, undone.actor) == (done.id, "curator")
    assert WRONG_SENTENCE in ask_playground(tab, story, "Does Nora have dogs?")


def test_an_auditor_answers_why_it_said_so_in_three_clicks(visit: LogIn, story: Story) -> None:
    tab = visit("auditor")
    page = tab.page
    yesterday = (timezone.now() - timedelta(days=1)).date().isoformat()
    tab.click(page.get_by_role("link", name="Answers").first)
    page.get_by_label(re.compile("What the agent said")).fill("three dogs")
    page.get_by_label("Asked from (UTC)").fill(yesterday)
    tab.click(page.get_by_role("button", name="Find", exact=True))
    tab.click(page.get_by_role("link", name="Which insurance fits Nora?").first)
    assert tab.clicks <= 3
    expect(page.get_by_text(WRONG_SENTENCE, exact=True).first).to_be_visible()
    expect(page.locator("#content")).to_contain_text("••••••")

    page.get_by_label("Why do you need to read it?").first.fill("Complaint 17")
    page.get_by_role("button", name=re.compile("Show messages")).first.click()
    expect(page.locator("#content")).not_to_contain_text("••••••")
    conversation = Conversation.objects.of(story.agent.tenant).get(external_id=story.nora)
    shown = Reveal.objects.of(story.agent.tenant).get(conversation=conversation)
    assert (shown.person, shown.reason) == ("auditor", "Complaint 17")
    assert_cannot_change(page, tab, story)


def test_a_corrected_fact_is_right_in_the_next_answer_after_four_clicks(
    visit: LogIn, story: Story
) -> None:
    tab = visit("curator")
    page = tab.page
    page.get_by_role("searchbox").first.fill('"red bicycle"')
    page.keyboard.press("Enter")
    tab.click(page.get_by_role("link", name=re.compile("red bicycle")).first)
    tab.click(page.locator("#correct > summary"))
    form = page.locator("#correct form")
    form.get_by_label("The right sentence").fill("Nora owns a green bicycle.")
    form.get_by_label("Reason").fill("It was painted.")
    tab.click(form.get_by_role("button", name="Correct it"))
    tab.click(page.get_by_role("link", name=re.compile("Ask again")).first)
    assert tab.clicks <= 4
    now = page.locator(".ask-again-sides > div:last-child").first
    expect(now).to_contain_text("Nora owns a green bicycle.")
    body = {"conversation_id": str(story.nora), "query": "Which bicycle does Nora own?"}
    answer = story.agent.post("retrieve_memory", body).content.decode()
    assert "green bicycle" in answer
    page.go_back()
    tab.press("u")
    expect(page.locator(".fact-sentence")).to_contain_text("red bicycle")


def test_the_difference_is_shown_in_place_and_the_way_back_stays_open(
    visit: LogIn, story: Story
) -> None:
    tab = visit("curator")
    page = tab.page
    fact = Fact.objects.of(story.agent.tenant).get(fact=WRONG_SENTENCE)
    address = reverse("admin:semantic_fact_change", args=[fact.id])
    tab.open(address)
    tab.press("e")
    form = page.locator("#correct form")
    form.get_by_label("The right sentence").fill("Nora owns three dogs.")
    form.get_by_role("button", name="Show the difference").click()
    expect(page.locator("#correct-difference del").first).to_be_visible()
    assert page.url.endswith(address)


def test_an_operator_finds_the_runaway_key_in_two_clicks(visit: LogIn, story: Story) -> None:
    runaway = make_agent(story.agent.tenant.name, "runaway loop")
    for _ in range(80):
        runaway.post("retrieve_memory", {"query": ""})
    assert story.agent.post("search", {"query": "cards"}).status_code == 200
    key_usage.write_counts()
    tab = visit("operator")
    tab.click(tab.page.get_by_role("link", name="Operate").first)
    tab.click(tab.page.get_by_role("link", name="API keys").first)
    expect(tab.page.locator("#result_list tbody th a").first).to_have_text("runaway loop")
    tab.click(tab.page.locator("#result_list tbody th a").first)
    assert tab.clicks <= 3
    expect(tab.page.locator("summary", has_text="Revoke")).to_be_visible()


def test_a_person_is_erased_and_the_certificate_printed(visit: LogIn, story: Story) -> None:
    agent, talk = make_agent(story.agent.tenant.name, "desk", ("curate", "ingest", "read")), uuid4()
    agent.say(talk, "I am Olga Holm and my account is 5512.", name="Olga Holm")
    agent.flush(talk)
    person = {"name": "Olga Holm", "speakers": ["Olga Holm"]}
    assert agent.post("people", person).status_code == 201
    tab = visit("boss")
    page = tab.page
    tab.click(page.get_by_role("link", name="People").first)
    tab.click(page.locator("#result_list").get_by_role("link", name="Olga Holm").first)
    expect(page.locator("#content")).to_contain_text("Olga Holm")
    tab.click(page.get_by_role("link", name="Erase…"))
    page.get_by_label("Reason").fill("Asked for in ticket 4712.")
    page.get_by_label("Type Olga Holm to confirm").fill("Olga Holm")
    tab.click(page.get_by_role("button", name=re.compile("^Erase")))
    expect(page.get_by_role("heading", name="Certificate of erasure").first).to_be_visible()
    expect(page.get_by_role("region", name="What was deleted")).to_contain_text("people")
    expect(page.get_by_role("status")).to_contain_text("Nothing")
    page.get_by_label(re.compile("A name")).fill("Olga Holm")
    tab.click(page.get_by_role("button", name="Look for it"))
    expect(page.get_by_role("status")).to_contain_text("Nothing. Olga Holm was looked for")
    page.evaluate("window.print = () => { document.body.dataset.printed = 'yes'; }")
    tab.click(page.get_by_role("button", name="Print"))
    assert page.evaluate("document.body.dataset.printed") == "yes"
    assert tab.clicks <= 6
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Print")).to_be_hidden()
    expect(page.get_by_role("region", name="What was deleted")).to_be_visible()


def test_two_days_are_compared_in_three_clicks(visit: LogIn, story: Story) -> None:
    tab = visit("curator")
    tab.click(tab.page.get_by_role("link", name="Answers").first)
    tab.click(tab.page.get_by_role("link", name="Compare two moments").first)
    tab.click(tab.page.get_by_role("button", name="Compare", exact=True))
    assert tab.clicks <= 3
    expect(tab.page.locator("#content")).to_contain_text("I have two cats")


def assert_cannot_change(page: Page, tab: Visit, story: Story) -> None:
    """Look for ways to change something, on the page and past it."""
    fact = Fact.objects.of(story.agent.tenant).get(fact=WRONG_SENTENCE)
    tab.open(reverse("admin:semantic_fact_change", args=[fact.id]))
    for label in ("Retire", "Correct", "Restore"):
        expect(page.locator("button, summary").filter(has_text=label)).to_have_count(0)
    token = page.evaluate("document.cookie.match(/csrftoken=([^;]+)/)?.[1] ?? ''")
    answer = page.request.post(
        tab.address + reverse("console:fact_invalidate", args=[fact.id]),
        form={"because": "wrong", "reason": "I can", "version": str(fact.version)},
        headers={"X-CSRFToken": token, "Referer": tab.address},
    )
    assert answer.status == 403
    fact.refresh_from_db()
    assert fact.invalid_at is None


def test_an_operator_retries_a_dead_job(visit: LogIn, story: Story) -> None:
    tab = visit("operator")
    page = tab.page
    page.get_by_role("region", name="Dead jobs wait for you").get_by_role("link").first.click()
    dead = Job.objects.of(story.agent.tenant).get(state="dead")
    assert str(dead.id) in page.url
    expect(page.locator("#content")).to_contain_text("ModelMisbehaved")
    page.get_by_text("Retry …").click()
    page.get_by_role("button", name="Retry this job").click()
    expect(page.get_by_text("It is ready: the next free worker takes it.")).to_be_visible()
    dead.refresh_from_db()
    assert (dead.state, dead.attempts) == ("ready", 0)


def test_nobody_takes_over_the_page_of_who_reads_a_message(visit: LogIn, story: Story) -> None:
    tab = visit("curator")
    conversation = Conversation.objects.of(story.agent.tenant).get(external_id=story.nora)
    tab.open(reverse("admin:episodic_conversation_change", args=[conversation.id]))
    expect(tab.page.locator("#content")).to_contain_text("<script>document.title")
    assert "taken over" not in tab.page.title()


def test_a_curator_makes_a_link_by_keyboard_and_deletes_it(visit: LogIn, story: Story) -> None:
    tab = visit("curator")
    page = tab.page
    offer = Note.objects.of(story.agent.tenant).get(label="Dog insurance")
    alone = Note.objects.of(story.agent.tenant).get(label=LONELY)
    tab.open(reverse("admin:notes_note_change", args=[offer.id]))
    tab.press("l")
    page.get_by_label("This memory …").select_option("mentions")
    page.get_by_label("… the other one").fill(reverse("admin:notes_note_change", args=[alone.id]))
    page.keyboard.press("Enter")
    expect(page.locator(".note-links")).to_contain_text(LONELY)
    link = Link.objects.of(story.agent.tenant).get(to_memory=alone.id)
    tab.open(reverse("console:link_remove", args=[link.id]))
    tab.click(page.get_by_role("button", name="Delete the link"))
    assert not Link.objects.of(story.agent.tenant).filter(to_memory=alone.id).exists()


def test_a_curator_says_something_and_sees_it_become_a_fact_without_a_reload(
    visit: LogIn, story: Story
) -> None:
    tab = visit("curator")
    page = tab.page
    tab.open(f"{reverse('console:try_it')}?{urlencode({'tenant': story.agent.tenant.name})}")
    tab.click(page.get_by_role("button", name="I moved to Bergen last week."))
    page.get_by_label("Your line").fill("My telephone has twelve buttons.")
    page.keyboard.press("Enter")
    memory, answer = page.locator("#try-it-memory"), page.locator("#try-it-answer")
    expect(memory).to_contain_text("Not yet processed")
    tab.click(page.get_by_role("button", name="Make memories now"))
    page.evaluate("document.body.dataset.loaded = 'once'")
    expect(memory).to_contain_text("Memories are being made")
    drain_jobs()
    expect(memory.get_by_role("link", name="twelve buttons").first).to_be_visible()
    expect(answer).to_contain_text("twelve buttons")
    assert page.evaluate("document.body.dataset.loaded") == "once"
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        keep_picture(tab, f"try-it-{width}")
        assert find_faults(tab, width, WCAG) == []


def test_a_curator_clears_a_queue_by_keyboard_without_loading_it_anew(
    visit: LogIn, story: Story
) -> None:
    tab = visit("curator")
    page = tab.page
    talk = Talk(make_agent("a shop", "shop agent"))
    names = [
        a + b for a in ("An", "Ber", "Cor", "Dor") for b in ("na", "ta", "ka", "la", "ma", "ra")
    ]
    pairs = [(f"{name} lives in Ghent.", f"{name} lives in Oslo.") for name in names]
    for some in (pairs[:12], pairs[12:]):
        talk.learn(
            *(new(line) for pair in some for line in pair),
            hints=[contradicts(*pair) for pair in some],
        )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.resource_type}"))
    tab.open(f"{reverse('console:review_queue')}?tenant=a+shop")
    expect(page.locator(".queue-current kbd").first).to_be_visible()
    for left in range(23, 3, -1):
        tab.press("1" if left % 2 else "2")
        tab.press("Enter")
        expect(page.locator('[data-count="left"]')).to_have_text(str(left))
    tab.press("j")
    tab.press("a")
    expect(page.locator('[data-count="left"]')).to_have_text("3")
    expect(page.locator('[data-count="mine"]')).to_have_text("21")
    assert asked.count("GET document") == 1 and asked.count("POST fetch") == 21
    assert asked.count("GET fetch") < 21, "more cards come before they run out, not after each"
    decided = Suggestion.objects.of(talk.agent.tenant)
    counts = [decided.filter(decision=name).count() for name in ("accepted", "declined", "")]
    assert counts == [10, 11, 3]
    tab.press("u")
    expect(page.locator('[data-count="left"]')).to_have_text("4")
    assert decided.filter(decision="declined", is_reopened=True).count() == 1
