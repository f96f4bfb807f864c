"""Loading MemoryBank's format and asking its questions, on two small diaries of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.quality import memorybank
from episodic.models import Conversation, Message
from memoryproject.tenancy.models import Tenant
from tests.bench.quality.samples import figures, measure, read
from wings.transfer.loading import UnreadableFile

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


@pytest.mark.django_db
def test_questions_are_asked_through_the_view_and_counted(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    out = tmp_path / "replies.jsonl"
    # A budget that holds two or three turns of the six: finding them is no accident.
    printed = measure("memorybank", folder, "--tenant=lab", "--max-tokens=120", "--out", out)
    replies = read(out)
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
    measure("memorybank", write_folder(tmp_path), "--tenant=lab")
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
    first, second = (figures("memorybank", folder) for _ in range(2))
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
    assert list(memorybank.find_turns_shown({"blocks": [pointing]}, contents=SAID)) == []
    assert list(memorybank.find_turns_shown({"blocks": [quoting]}, contents=SAID)) == ["t2"]


def test_figures_worked_out_by_hand() -> None:
    rows = [
        {"gold": ["a"], "turns": ["b", "c", "d", "e", "a", "f"]},
        {"gold": ["a"], "turns": ["b", "c", "d", "e", "f", "a"]},
        {"gold": ["a", "z"], "turns": ["a"]},
        {"gold": ["a"], "turns": []},
    ]
    expected = ((1 + 0 + 0.5 + 0) / 4, (1 + 1 + 0.5 + 0) / 4, 13 / 4)
    assert memorybank.score(rows) == expected


# Files that are none ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (memorybank.HISTORY_FILE, "no json"),
        (memorybank.HISTORY_FILE, '{"x": {"history": {"March": [{"query": "?"}]}}}'),
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
    with pytest.raises(UnreadableFile, match=rf"{name}|names no turn"):
        measure("memorybank", tmp_path)
