"""Plays a story of two chats against a running server, and draws what it answered.

    MEMORY_URL=http://127.0.0.1:8000 MEMORY_KEY=… python docs/story.py docs/story.svg

What the moving picture shows as the server's is what it answered. Needs the Python client, and a
key that may read, store and curate.
"""

import html
import sys
import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from memory_server_client import Client

SECONDS_A_SCENE = 4
WIDTH, LINE, TOP = 860, 26, 84
PER_LINE = 84
COLORS = {"said": "#57606a", "served": "#0a3069", "note": "#1a7f37"}
Scene = tuple[str, list[tuple[str, str]]]


def play(memory: Client) -> Iterator[Scene]:
    """Yield the scenes: a title, and lines with the name of their color."""
    user, monday, friday = str(uuid.uuid4()), uuid.uuid4(), uuid.uuid4()
    said = "I moved from Lisbon to Porto last week."
    message = {"role": "user", "name": "Ana", "content": said, "timestamp": "2026-11-23T09:00:00Z"}
    stored = memory.add_messages(monday, [message], user_id=user)
    yield (
        "Monday. A message is stored before the call returns",
        [
            ("said", f"POST add_messages   Ana: “{said}”"),
            ("served", f"→ message {stored['messages'][0]['seq']} of the conversation"),
        ],
    )
    memory.wait_for(memory.close_conversation(monday))
    fact = next(memory.list_facts(conversation_id=monday))
    yield "It becomes a fact: her own words, with the dates worked out", [("served", fact["fact"])]

    def ask() -> list[tuple[str, str]]:
        text = memory.retrieve_memory(
            friday, "Where does Ana live?", scope="user", user_id=user, max_tokens=300
        )
        lines = [line for line in text.splitlines() if line.strip()]
        asked = ("said", "POST retrieve_memory   “Where does Ana live?”, from another conversation")
        return [asked, *(("served", line) for line in lines), ("note", f"receipt {text.receipt}")]

    yield "Friday. Another chat of the same user asks, and no language model is called", ask()
    right = "Ana moved from Lisbon to Braga between 16 and 22 November 2026."
    memory.correct_fact(fact["id"], right, reason="She said so on the phone.")
    served = [
        answer["id"]
        for answer in islice(memory.list_retrievals(), 20)
        if any(hit["memory_id"] == fact["id"] for hit in answer["hits"])
    ]
    yield (
        "A curator corrects it. What was told before is known",
        [
            ("said", f"POST facts/…/correct   “{right}”"),
            ("note", f"Told to {len(served)} agent so far: receipt {', '.join(served)}"),
        ],
    )
    yield "From then on every chat gets the correction, and the old line says so", ask()


def draw(scenes: list[Scene]) -> str:
    """Return an SVG that shows one scene after the other, for ever."""
    total = SECONDS_A_SCENE * len(scenes)
    share = 100 / len(scenes)
    folded = [(title, list(fold(lines))) for title, lines in scenes]
    height = TOP + LINE * max(len(lines) for _, lines in folded) + 10
    groups = "\n".join(
        f'<g style="animation-delay:{SECONDS_A_SCENE * number}s">'
        f'<text x="28" y="44" class="title">{html.escape(title)}</text>'
        + "".join(
            f'<text x="28" y="{TOP + LINE * row}" fill="{COLORS[color]}">{html.escape(text)}</text>'
            for row, (color, text) in enumerate(lines)
        )
        + "</g>"
        for number, (title, lines) in enumerate(folded)
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">
<title>A message becomes a fact, an answer, a correction, and the next chat's answer</title>
<style>
text {{ font: 15px ui-monospace, monospace; white-space: pre }}
.title {{ font: 600 18px system-ui, sans-serif; fill: #1f2328 }}
g {{ opacity: 0; animation: shown {total}s infinite }}
@keyframes shown {{ 0%, {share - 1:.1f}% {{ opacity: 1 }} {share:.1f}%, 100% {{ opacity: 0 }} }}
@media (prefers-reduced-motion: reduce) {{
  g {{ animation: none }} g:last-of-type {{ opacity: 1 }}
}}
</style>
<rect width="{WIDTH}" height="{height}" rx="10" fill="#f6f8fa" stroke="#d0d7de"/>
{groups}
</svg>
"""


def fold(lines: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the lines, broken between words where they are too long."""
    for color, text in lines:
        rest = text
        while len(rest) > PER_LINE:
            end = rest.rfind(" ", 0, PER_LINE)
            yield color, rest[:end]
            rest = "    " + rest[end + 1 :]
        yield color, rest


if __name__ == "__main__":
    with Client() as client:
        Path(sys.argv[1]).write_text(draw(list(play(client))), encoding="utf-8")
