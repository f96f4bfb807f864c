"""Answers to the questions of public benchmarks: the evidence in them, and a reader's replies.

A message is found where a block of the answer names it as a source and has at least half of its
words; `named` counts it from the first word on. With --reader each answer is put into a prompt, and
the reply is compared with the gold answer: by --judge, or without one where there are answers to
choose from or to match. `points` is the share of a right answer's points that are made, `right`
the share of replies that make all, `from` and `to` its 95 % interval. Questions asked before the
end (`after`) are left out. In the file of --out each question and budget has a line: what is there
is not asked again, and what a failed call left is asked in the next run.
"""

from __future__ import annotations

import random
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from tqdm import tqdm

from bench.command import tell
from bench.quality.chats import START, Chat, Question, read_chats, to_conversations
from bench.quality.memory import Answer, load
from bench.quality.reader import Model, fill_answer, fill_judge, read_verdict
from bench.quality.report import Report, read_lines, write_lines
from bench.tables import find_interval, render_table
from memoryproject.text.tokens import count_tokens
from memoryproject.text.words import content_stems
from wings.transfer.loading import UnreadableFile

SHOWN_SHARE = 0.5
"""Of a message's words: with fewer of them in a text it is hinted at, not shown."""
ALL = "all"
CHATS_AT_ONCE = 10
"""Chats that are processed before their questions are asked."""
ANSWER_TOKENS = 100
"""Of an answer in a judge's prompt, as the cost is estimated."""
Row = dict[str, Any]
"""A question in a budget: what memory held of it and, with a reader, the answer and its verdict."""
Key = tuple[str, str, int]
"""Chat, question and budget of a row."""


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("path", type=Path, help="the labelled file, LoCoMo's or LongMemEval's")
    parser.add_argument("--chats", nargs="+", help="ids; else all")
    parser.add_argument("--questions", type=int, help="of each kind, drawn by --seed; else all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-tokens", type=int, nargs="+", default=[1000], help="budgets")
    whose = "load each session as a conversation of one user, and ask from a new one"
    parser.add_argument("--sessions", action="store_true", help=whose)
    for name in ("reader", "judge"):
        parser.add_argument(f"--{name}", metavar="URL", help="of an API like OpenAI's, with /v1")
        parser.add_argument(f"--{name}-model", metavar="NAME", default="")
    parser.add_argument("--at-once", type=int, default=4, help="calls of the models")
    parser.add_argument("--only-cost", action="store_true", help="print the cost and end")
    parser.add_argument("--out", type=Path, help="one JSON line a question; what is there is kept")
    parser.add_argument("--tenant", default="answers", help="whose memory is used; made if missing")


def measure(options: Namespace) -> Report:
    """Return how much was found and how many answers are right, by kind of question and budget.

    Raises:
        UnreadableFile: there is no question that can be asked.
    """
    reader = Model(options.reader, options.reader_model) if options.reader else None
    judge = Model(options.judge, options.judge_model) if options.judge else None
    questions = pick(read_chats(options.path), options)
    if not questions:
        raise UnreadableFile(f"{options.path} holds no question that has an answer.")
    rows = {to_key(row): row for row in read_lines(options.out)} if options.out else {}
    cost = estimate_cost(questions, rows, options)
    if reader or judge:
        text = "{calls:,} calls of models, about {tokens:,} tokens for them to read.".format(**cost)
        if options.only_cost:
            return Report(cost, text, tuple(rows.values()))
        tell(text)

    def keep(row: Row) -> None:
        rows[to_key(row)] = row
        if options.out:
            write_lines(options.out, [row], mode="a")

    for row in look_up(questions, rows, options):
        keep(row)
    chosen = [rows[key] for key in questions]
    pending = [row for row in chosen if find_calls(row, questions[to_key(row)], options)]
    with ThreadPoolExecutor(options.at_once) as pool:
        tasks = [pool.submit(read, row, questions[to_key(row)], reader, judge) for row in pending]
        for task in tqdm(as_completed(tasks), total=len(tasks), unit=" questions"):
            keep(task.result())
    chosen = [rows[key] for key in questions]
    left = sum(bool(find_calls(row, questions[to_key(row)], options)) for row in chosen)
    header, table = summarise(chosen)
    figures = [dict(zip(header, line, strict=True)) for line in table]
    text = f"{render_table(header, table)}\nquestions left for the next run: {left}"
    return Report({"kinds": figures, "left": left}, text, tuple(rows.values()))


def pick(chats: Iterable[Chat], options: Namespace) -> dict[Key, Question]:
    """Return the questions that are asked: all, or some of each kind, the same for each budget."""
    kinds: dict[str, list[tuple[str, Question]]] = defaultdict(list)
    for chat in chats:
        for question in chat.questions:
            can_be = question.gold or options.reader or options.judge
            wanted = not options.chats or str(chat.id) in options.chats
            if wanted and can_be and question.after is None:
                kinds[question.kind].append((str(chat.id), question))
    draw = random.Random(options.seed)
    return {
        (chat, str(question.id), budget): question
        for _, asked in sorted(kinds.items())
        for chat, question in (
            draw.sample(asked, min(options.questions, len(asked))) if options.questions else asked
        )
        for budget in options.max_tokens
    }


def to_key(row: Row) -> Key:
    """Return what a row is told from others by."""
    return str(row["sample_id"]), str(row["qid"]), row["max_tokens"]


def find_calls(row: Row, question: Question, options: Namespace) -> list[str]:
    """Return which models a row must still be shown to."""
    reads = options.reader and "answer" not in row
    judges = options.judge and question.is_judged and "points" not in row
    return ["reader"] * bool(reads) + ["judge"] * bool(judges and (reads or "answer" in row))


def estimate_cost(
    questions: Mapping[Key, Question], rows: Mapping[Key, Row], options: Namespace
) -> dict[str, int]:
    """Return how many calls are to be made, and about how many tokens their prompts have."""
    sizes = []
    for key, question in questions.items():
        calls = find_calls(rows.get(key, {}), question, options)
        if "reader" in calls:
            sizes.append(key[2] + count_tokens(fill_answer(question.q, memory="", today="")))
        if "judge" in calls:
            prompt = fill_judge(question.q, points=question.points, answer="")
            sizes.append(count_tokens(prompt) + ANSWER_TOKENS)
    return {"calls": len(sizes), "tokens": sum(sizes)}


def look_up(
    questions: Mapping[Key, Question], rows: Mapping[Key, Row], options: Namespace
) -> Iterator[Row]:
    """Yield the row of each question that was not asked yet; its chat is loaded first."""
    missing = questions.keys() - rows.keys()
    wanted = {key[0] for key in missing}
    chats = tqdm((c for c in read_chats(options.path) if str(c.id) in wanted), unit=" chats")
    while some := list(islice(chats, CHATS_AT_ONCE)):
        parts = [part for c in some for part in to_conversations(c, sessions=options.sessions)]
        ask = load(parts, tenant_name=options.tenant)
        for chat in some:
            first = next(to_conversations(chat, sessions=options.sessions))
            where = first.user_id or first.external_id
            for key in (key for key in questions if key in missing and key[0] == str(chat.id)):
                answer = ask(where, questions[key].topic, max_tokens=key[2])
                yield make_row(chat, questions[key], key[2], answer)


def make_row(chat: Chat, question: Question, budget: int, answer: Answer) -> Row:
    """Return what memory answered to a question within a budget, and the evidence in it."""
    units = [
        {"text": block["text"], "dia_ids": [one["metadata"]["id"] for one in block["sources"]]}
        for block in answer["blocks"]
    ]
    last = question.at or chat.messages[-1].at or START
    row: Row = {
        "sample_id": str(chat.id),
        "qid": question.id,
        "kind": question.kind,
        "max_tokens": budget,
        "tokens": count_tokens(join(units)),
        "today": f"{last:%A, %d %B %Y}",
        "units": units,
    }
    gold = {
        said.id: frozenset(content_stems(said.content))
        for said in chat.messages
        if said.id in question.gold
    }
    return row | (score(units, gold) if gold else {})


def join(units: Sequence[Mapping[str, Any]]) -> str:
    """Return an answer as `retrieve_memory` has it."""
    return "\n".join(unit["text"] for unit in units)


def score(
    units: Sequence[Mapping[str, Any]], gold: Mapping[str, frozenset[str]]
) -> dict[str, float]:
    """Return the shares of gold that an answer shows, and that it names at all."""
    found, named = set(), set()
    for unit in units:
        shown = frozenset(content_stems(unit["text"]))
        for key in gold.keys() & set(unit["dia_ids"]):
            named.add(key)
            if len(gold[key] & shown) >= SHOWN_SHARE * len(gold[key]):
                found.add(key)
    return {"found": len(found) / len(gold), "named": len(named) / len(gold)}


def read(row: Row, question: Question, reader: Model | None, judge: Model | None) -> Row:
    """Return a row with the reader's answer and its verdict; without what a failed call leaves."""
    if "answer" not in row and reader:
        memory = join(row["units"])
        answer = reader.reply(fill_answer(question.q, memory=memory, today=row["today"]))
        row = row | ({"answer": answer} if answer else {})
    if "answer" not in row:
        return row
    if not question.is_judged:
        return row | {"points": float(question.check(row["answer"]))}
    if judge:
        points = question.points
        reply = judge.reply(fill_judge(question.q, points=points, answer=row["answer"]))
        met = read_verdict(reply, at_most=len(points))
        return row | ({} if met is None else {"points": met / len(points)})
    return row


def summarise(rows: Sequence[Row]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return a header, and a line a budget for all questions and for each kind."""
    parts: dict[tuple[bool, str, int], list[Row]] = defaultdict(list)
    for row in rows:
        parts[False, ALL, row["max_tokens"]].append(row)
        parts[True, row["kind"], row["max_tokens"]].append(row)
    names = [name for name in ("found", "named", "points") if any(name in row for row in rows)]
    judged = ["judged", "right", "from", "to"] if "points" in names else []

    def average(some: Sequence[Row]) -> Iterator[Any]:
        yield round(fmean(row["tokens"] for row in some))
        for name in names:
            values = [row[name] for row in some if name in row]
            yield round(fmean(values), 3) if values else "-"
        if judged:
            verdicts = [row["points"] == 1 for row in some if "points" in row]
            low, high = find_interval(sum(verdicts), len(verdicts))
            share = round(fmean(verdicts), 3) if verdicts else "-"
            yield from (len(verdicts), share, round(low, 3), round(high, 3))

    table = [
        (kind, budget, len(some), *average(some))
        for (_, kind, budget), some in sorted(parts.items())
    ]
    return ["kind", "max_tokens", "questions", "tokens", *names, *judged], table
