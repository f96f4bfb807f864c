"""A conversation with two clear topics, used wherever something real must be remembered."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
EVENING = datetime(2026, 3, 5, 18, tzinfo=UTC)

MOVING = [
    ("Mira", "Hi Jonas! I finally got the job at the harbour authority in Rotterdam."),
    ("Jonas", "Congratulations, Mira! What will you do there?"),
    ("Mira", "I'll be a data analyst for ship traffic. I start on 1 April."),
    ("Jonas", "That's a big step from the bakery. Are you moving?"),
    ("Mira", "Yes, I'm moving from Ghent to Rotterdam at the end of the month."),
    ("Jonas", "Do you need help carrying boxes? I have a van."),
    ("Mira", "I'd love that! I own about forty boxes of books and a very heavy piano."),
    ("Jonas", "The piano will be fun. I broke my toe with the last one."),
]
RUNNING = [
    ("Jonas", "How is the marathon training going?"),
    ("Mira", "My coach Priya makes me run three times a week along the river."),
    ("Jonas", "That sounds hard in this weather."),
    ("Mira", "I bought waterproof running shoes, so the rain does not bother me."),
    ("Jonas", "Which race do you train for?"),
    ("Mira", "I plan to run the Lisbon half marathon in October with my aunt Teresa."),
    ("Jonas", "I will come and cheer with a big banner."),
    ("Mira", "Please bring your camera, you take the best photos."),
]


def messages(lines: list[tuple[str, str]], start: datetime) -> list[dict[str, Any]]:
    """Return the lines as the API takes them, half a minute apart."""
    return [
        {
            "role": "user" if name == "Mira" else "assistant",
            "name": name,
            "content": content,
            "timestamp": (start + index * timedelta(seconds=30)).isoformat(),
        }
        for index, (name, content) in enumerate(lines)
    ]


def whole_talk() -> list[dict[str, Any]]:
    """Return both topics, three days apart."""
    return messages(MOVING, MORNING) + messages(RUNNING, EVENING)
