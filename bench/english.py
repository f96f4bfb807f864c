"""Conversations in plain English, for the pipeline: its rules read sentences."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
PACE = timedelta(seconds=40)
PAUSE = timedelta(hours=20)
MESSAGES_A_TOPIC = 10
SAID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TOPICS, WORDS = SAID["topics"], SAID["words"]


def make_talk(*, seed: int, messages: int) -> list[dict[str, Any]]:
    """Return a conversation as the API takes it; its topic changes every ten messages or so."""
    rng = np.random.default_rng([seed, 8])
    user = str(rng.choice(WORDS["name"]))
    talk: list[dict[str, Any]] = []
    at, topic = START, "work"
    for number in range(messages):
        if number % MESSAGES_A_TOPIC == 0:
            topic = str(rng.choice([other for other in TOPICS if other != topic]))
            at += PAUSE
        role = "assistant" if number % 2 else "user"
        sentence = str(rng.choice(TOPICS[topic][role]))
        content = re.sub(r"{(\w+)}", lambda found: str(rng.choice(WORDS[found[1]])), sentence)
        at += PACE
        who = {"role": role} | ({"name": user} if role == "user" else {})
        talk.append({**who, "content": content, "timestamp": at.isoformat()})
    return talk
