"""Renders the figures of the offline engine's heads, and the card beside their weights."""

from __future__ import annotations

from typing import Any

from bench.tables import render_table
from semantic.offline.heads import KEEP


def render(figures: dict[str, Any]) -> str:
    """Return the tables of the figures."""
    columns = ("positives", "precision", "recall", "auc")
    by_head = [
        (name, row["threshold"], *(row[key] for key in columns))
        for name, row in figures["heads"].items()
    ]
    by_language = [
        (name, *(row[key] for key in columns)) for name, row in figures["languages"].items()
    ]
    return "\n\n".join(
        (
            render_table(["head", "threshold", *columns], by_head),
            render_table([f"language ({KEEP})", *columns], by_language),
            f"category right: {figures['category_accuracy']:.3f}",
        )
    )


def render_card(figures: dict[str, Any], text: str) -> str:
    """Return the card of the weights."""
    agreement = ", ".join(f"{name} {share:.3f}" for name, share in figures["agreement"].items())
    data = figures["data"]
    return CARD_TEXT.format(**data, agreement=agreement, figures=text)


CARD_TEXT = """\
# Card of heads.npz

Two small networks with one hidden layer over vectors of the built-in embedder
(multilingual-e5-small, 4 bits, "passage: " before the text) and traits that belong to no language.
That of sentences also sees the vector of what stands before: the sentence before in its message,
else the end of the message before.
That of pairs also sees, by the states of tokens that the search keeps, what each sentence says
that the other does not. Written by `python -m bench.quality heads --write`; this text too.

**Data:** {sentences} sentences of people and {pairs} pairs of sentences in fourteen languages,
all invented. An AI model wrote and labelled them, most without having seen the program; see
`bench/labels/annotators.txt` for its rules and the weaknesses it knows of. The author of
`chats-4.jsonl`, `pairs-2.jsonl` and `pairs-4.jsonl` had seen its mistakes. No native speaker has
checked them.
A second labelling of a fifth of the first chats, by the same model, agrees in:
{agreement}.
The older sentences of the training pairs count as worth keeping, too: the chats hold
hardly any short plain statement.

**Split:** by a hash of the chat's id or the pair's group; three fifths train, one fifth chooses
thresholds and then trains, too, one fifth is blind. All figures below are of the blind part.

**Choices:** thresholds, on the choice part: keep finds .92 of what is to be kept, danger .85,
instruction .83, needs_previous .80; replaces has a precision of .75, repeats of .90, pasted of
.95, joke of .85; the others
decide at .5. Of categories the largest probability counts. What replaces finds may be suggested,
and retires nothing: no threshold reaches a precision of .97 at a recall worth having.

```
{figures}
```
"""
