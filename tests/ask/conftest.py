"""A talk in memory, and a language model that answers questions about it as a test scripts."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import Agent, make_agent, tell
from tests.llm.conftest import model as model
from tests.model_server import Asked, Reply, says

SERVED = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


@dataclass
class Home:
    """Ana, and her conversation, which the offline engine has processed."""

    ana: Agent
    talk: uuid.UUID

    def ask(self, query: str = "Which city does Mira move to?", **options: Any) -> Any:
        """Return the response to a question."""
        body = {"conversation_id": str(self.talk), "query": query, **options}
        return self.ana.post("ask", body)

    def read(self, query: str = "Which city does Mira move to?", **options: Any) -> dict[str, Any]:
        """Return the answer to a question as JSON."""
        response = self.ask(query, **options)
        assert response.status_code == 200, response.content
        return dict(response.json())


@pytest.fixture(scope="module")
def home(shared: None) -> Iterator[Home]:
    ana = make_agent("ana's", "ana")
    yield Home(ana, tell(ana, uuid.uuid4()))


def sentence(text: str, *cites: tuple[int, str]) -> dict[str, Any]:
    return {"cites": [{"line": line, "quote": quote} for line, quote in cites], "text": text}


def answers(*sentences: dict[str, Any], further: tuple[str, ...] = ()) -> Reply:
    return says({"sentences": list(sentences), "further": list(further)})


def find_line(asked: Asked, words: str) -> int:
    """Return the number of the first served line that has the words."""
    return next(int(number) for number, line in SERVED.findall(asked.user) if words in line)


def cites(text: str, quote: str, line: str = "") -> Any:
    """Answer with a sentence that quotes the line which has these words, or those of `line`."""
    return lambda asked: answers(sentence(text, (find_line(asked, line or quote), quote)))


def tell_all(asked: Asked) -> Reply:
    """Answer with every line that was shown, each as a sentence that quotes it."""
    lines = SERVED.findall(asked.user)
    return answers(*[sentence(line, (int(number), line)) for number, line in lines])
