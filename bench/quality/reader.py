"""Language models that answer questions from an answer of the memory, and judge what was said."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template

import openai

FOLDER = Path(__file__).parent / "prompts"
ANSWER, JUDGE = (Template((FOLDER / f"{name}.md").read_text()) for name in ("answer", "judge"))
TIMEOUT_S, RETRIES = 300.0, 3
"""Bounds of a call: of each try, and of how often it is repeated."""


class Model:
    """A model behind a URL that speaks as OpenAI's does; the key is `OPENAI_API_KEY`, if any."""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self._client = openai.OpenAI(
            base_url=url,
            api_key=os.environ.get("OPENAI_API_KEY") or "none",
            timeout=TIMEOUT_S,
            max_retries=RETRIES,
        )

    def reply(self, prompt: str) -> str | None:
        """Return what the model says; None if the call fails."""
        try:
            done = self._client.chat.completions.create(
                model=self.name, messages=[{"role": "user", "content": prompt}]
            )
        except openai.OpenAIError:
            return None
        return (done.choices[0].message.content or "").strip() or None


def fill_answer(question: str, *, memory: str, today: str) -> str:
    """Return what the reader is asked."""
    return ANSWER.substitute(question=question, memory=memory, today=today)


def fill_judge(question: str, *, points: Sequence[str], answer: str) -> str:
    """Return what the judge is asked; it sees no memory."""
    lines = "\n".join(f"{number}. {point}" for number, point in enumerate(points, start=1))
    return JUDGE.substitute(question=question, points=lines, answer=answer)


def read_verdict(reply: str | None, *, at_most: int) -> int | None:
    """Return how many points the judge saw made; None if it does not say."""
    met = re.findall(r"MET:\W*(\d+)", reply or "")
    return min(int(met[-1]), at_most) if met else None
