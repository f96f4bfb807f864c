"""Little conversations for the offline engine's tests, with real embeddings."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from episodic.engines import Line, Vectors
from memoryproject.ai.embeddings import LocalEmbedder

MONDAY = datetime(2024, 3, 4, 9, 0, tzinfo=UTC)


def embed(texts: Sequence[str]) -> Vectors:
    return LocalEmbedder().embed_passages(texts)


def make_lines(
    said: Sequence[tuple[str, str]],
    *,
    start: datetime = MONDAY,
    step: timedelta = timedelta(0),
    first_seq: int = 0,
) -> list[Line]:
    """Make lines of (speaker, content); "user" and "assistant" are roles, others names."""
    return [
        Line(
            seq=first_seq + index,
            role=speaker if speaker in {"user", "assistant"} else "user",
            name="" if speaker in {"user", "assistant"} else speaker,
            content=content,
            at=start + index * step,
        )
        for index, (speaker, content) in enumerate(said)
    ]


def embed_lines(lines: Sequence[Line]) -> Vectors:
    return embed([line.text for line in lines])


FLIGHT = (
    ("user", "I need to book a flight from Berlin to Lisbon on 12 May."),
    ("assistant", "Sure, do you prefer a morning or an evening flight?"),
    ("user", "Morning, please, and a window seat if there is one."),
    ("assistant", "I found a flight at 7:40 with a window seat for 129 euros."),
    ("user", "Good, book that flight for me."),
    ("assistant", "Your flight is booked. Have a good trip!"),
)
SOUP = (
    ("user", "By the way, how do I cook a pumpkin soup for six people?"),
    ("assistant", "Roast two pumpkins with onions and garlic for forty minutes."),
    ("user", "And then do I add cream to the soup?"),
    ("assistant", "Yes, blend the pumpkin with stock, then stir in the cream."),
    ("user", "How much stock should I take for the soup?"),
    ("assistant", "One and a half litres of vegetable stock will do for six people."),
)
GARDEN = (
    ("Ana", "I planted tomatoes and basil on the balcony this spring."),
    ("Bo", "Lovely, do the tomatoes get enough sun there?"),
    ("Ana", "They get the sun from noon, and the basil grows like mad."),
    ("Bo", "My basil died because I watered the pots too much."),
    ("Ana", "Basil hates wet feet, I water the pots only every second day."),
    ("Bo", "I will try that with the tomatoes on my balcony too."),
)
MARATHON = (
    ("Ana", "Hey Bo! Long time no see, did you finish the marathon?"),
    ("Bo", "Yes, I ran the marathon in four hours and ten minutes."),
    ("Ana", "Great, how did your knee feel while running?"),
    ("Bo", "The knee hurt from kilometre thirty, but I kept running."),
    ("Ana", "You should see a physiotherapist about that knee."),
    ("Bo", "I have an appointment with the physiotherapist on Thursday."),
)
