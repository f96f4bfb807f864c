"""Loading MemoryBank's format and asking its questions, on two small diaries of our own."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from episodic.loading import UnreadableFile
from episodic.models import Conversation, Message
from memoryproject.tenancy.models import Tenant
from operations import memorybank
from operations.memorybank import GoldQuestion, Reply

DIARIES = {
    "小禾": {
        "2024-03-01": [
            ("我昨天在河边捡到一只橘色的小猫。", "真可爱！你打算收养它吗？"),
            ("是的，我给它取名叫南瓜。", "南瓜这个名字很适合橘猫。"),
            ("它特别喜欢吃煮熟的鸡胸肉。", "记得不要放盐。"),
        ],
        "2024-03-05": [
            ("我报名了周末的陶艺课。", "做陶艺很能让人静下心来。"),
            ("老师教我们做了一个蓝色的茶杯。", "听起来很有成就感。"),
            ("烧好以后我想送给奶奶。", "奶奶一定会喜欢的。"),
        ],
    },
    "大川": {
        "2024-03-02": [
            ("我在学拉手风琴。", "手风琴的音色很温暖。"),
            ("下个月要去哈尔滨演出。", "那里还很冷，多穿点。"),
            ("我想带妹妹一起坐火车去。", "一路顺风！"),
        ],
    },
}
GOLD = [
    ("小禾", "我的猫叫什么名字？", ["0:2024-03-01:1"], False),
    ("小禾", "我在陶艺课上做了什么颜色的茶杯？", ["0:2024-03-05:1"], False),
    ("大川", "我在学哪种乐器？", ["1:2024-03-02:0"], False),
    ("大川", "在3月2号，我说要去哪里演出？", ["1:2024-03-02:1"], True),
]


def write_folder(folder: Path, *, diaries: Any = DIARIES, gold: Any = GOLD) -> Path:
    history = {
        name: {
            "history": {
                day: [{"query": said, "response": answered} for said, answered in turns]
                for day, turns in days.items()
            }
        }
        for name, days in diaries.items()
    }
    questions = [
        {"name": name, "question": question, "gold": turns, "dated": dated}
        for name, question, turns, dated in gold
    ]
    (folder / memorybank.HISTORY_FILE).write_text(json.dumps(history, ensure_ascii=False))
    (folder / memorybank.GOLD_FILE).write_text(json.dumps(questions, ensure_ascii=False))
    return folder


def evaluate(folder: Path, *options: str) -> str:
    printed = io.StringIO()
    call_command("evaluate_memorybank", str(folder), *options, stdout=printed)
    return printed.getvalue()


@pytest.mark.django_db
def test_questions_are_asked_through_the_view_and_counted(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    out = tmp_path / "replies.jsonl"
    # A budget that holds two or three turns of the six: finding them is no accident.
    printed = evaluate(folder, "--tenant", "lab", "--max-tokens", "120", "--out", str(out))
    replies = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [reply["question"] for reply in replies] == [question for _, question, *_ in GOLD]
    assert all(set(reply["gold"]) <= set(reply["turns"]) for reply in replies)
    assert all(len(reply["turns"]) < 6 for reply in replies[:2])
    rows = [line.split() for line in printed.splitlines()]
    assert rows[0] == ["questions", "count", "R@5", "R@all", "turns"]
    assert [row[:3] for row in rows[1:]] == [
        ["all", "4", "1.000"],
        ["dated", "1", "1.000"],
        ["undated", "3", "1.000"],
    ]


@pytest.mark.django_db
def test_every_message_keeps_its_speaker_day_and_turn(tmp_path: Path) -> None:
    evaluate(write_folder(tmp_path), "--tenant", "lab")
    tenant = Tenant.objects.get(name="lab")
    assert Conversation.objects.of(tenant).count() == 2
    rows = Message.objects.of(tenant).filter(metadata__turn="0:2024-03-05:1").order_by("seq")
    assert [(row.role, row.name, row.content) for row in rows] == [
        ("user", "小禾", "老师教我们做了一个蓝色的茶杯。"),
        ("assistant", "", "听起来很有成就感。"),
    ]
    assert {row.occurred_at.date().isoformat() for row in rows} == {"2024-03-05"}


@pytest.mark.django_db
def test_each_run_has_a_memory_of_its_own_unless_one_is_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (first,) = [json.loads(evaluate(folder, "--json"))]
    (second,) = [json.loads(evaluate(folder, "--json"))]
    assert first == second and first[0]["count"] == 4
    assert Tenant.objects.filter(name__startswith="memorybank ").count() == 2


# What counts as shown ---------------------------------------------------------------

SAID = {1: "我给它取名叫南瓜。", 2: "南瓜这个名字很适合橘猫。"}


def block(text: str, *seqs: int) -> dict[str, Any]:
    return {
        "text": text,
        "sources": [{"seq": seq, "metadata": {"turn": f"t{seq}"}} for seq in seqs],
    }


def test_a_turn_is_shown_only_where_its_words_are() -> None:
    pointing = block("- 小禾养了一只猫。\n", 1)
    quoting = block("- 助手：“南瓜这个名字很适合橘猫。”\n", 1, 2)
    assert list(memorybank.turns_shown({"blocks": [pointing]}, contents=SAID)) == []
    assert list(memorybank.turns_shown({"blocks": [quoting]}, contents=SAID)) == ["t2"]


def test_figures_worked_out_by_hand() -> None:
    def reply(gold: set[str], *turns: str) -> Reply:
        return Reply(GoldQuestion("x", "?", frozenset(gold), dated=False), turns)

    replies = [
        reply({"a"}, "b", "c", "d", "e", "a", "f"),
        reply({"a"}, "b", "c", "d", "e", "f", "a"),
        reply({"a", "z"}, "a"),
        reply({"a"}),
    ]
    assert memorybank.recall_at(replies, turns=5) == (1 + 0 + 0.5 + 0) / 4
    assert memorybank.recall_at(replies, turns=None) == (1 + 1 + 0.5 + 0) / 4
    assert memorybank.mean_turns(replies) == 13 / 4


# Files that are none ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (memorybank.HISTORY_FILE, "no json"),
        (memorybank.HISTORY_FILE, "[]"),
        (memorybank.HISTORY_FILE, '{"x": {"history": {"March": []}}}'.replace("[]", '[{"q": 1}]')),
        (memorybank.GOLD_FILE, "no json"),
        (memorybank.GOLD_FILE, '[{"name": "x"}]'),
        (memorybank.GOLD_FILE, "[]"),
        (memorybank.GOLD_FILE, '[{"name": "小禾", "question": "？", "gold": ["9:none:0"]}]'),
        (memorybank.GOLD_FILE, '[{"name": "小禾", "question": "？", "gold": []}]'),
    ],
)
def test_a_folder_of_another_form_is_refused_in_words(
    tmp_path: Path, name: str, content: str
) -> None:
    write_folder(tmp_path)
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(CommandError, match=r"must|names no turn|no question"):
        evaluate(tmp_path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="nowhere"):
        memorybank.read_dialogues(tmp_path / "nowhere")
