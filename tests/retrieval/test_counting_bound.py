"""The counter `max` is never below what OpenAI's own tokenizer counts, in any script."""

from __future__ import annotations

import base64
import gzip
import hashlib
import random
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import pytest
import tiktoken
from tiktoken_ext import openai_public

from memoryproject.ai.counting import COUNTERS, ENCODINGS

Reference = list[tiktoken.Encoding]
TABLE = {
    "digits": "1234567890" * 40,
    "spaced digits": "7 31 2024 88 5551234 " * 20,
    "whitespace": " \t\n \r\n\u00a0\u3000   \n\n" * 20,
    "spaces": "a" + " " * 900 + "b",
    "source code": Path(__file__).read_text(encoding="utf-8"),
    "base64": base64.b64encode(bytes(range(256)) * 4).decode(),
    "rare English": "Antidisestablishmentarian quixotry, xylographic syzygy; zeugmatic kthxbye. "
    * 9,
    "Chinese": "我们上个月搬到了波尔图，因为那里的房租比较便宜。" * 9,
    "Japanese": "先月、家賃が安いのでポルトに引っ越しました。" * 9,
    "Korean": "지난달에 집세가 싸서 포르투로 이사했어요. " * 9,
    "Russian": "В прошлом месяце мы переехали в Порту, там дешевле. " * 9,
    "Arabic": "انتقلنا إلى بورتو الشهر الماضي لأن الإيجار أرخص. " * 9,
    "Hindi": "हम पिछले महीने पोर्टो चले गए क्योंकि किराया सस्ता है। " * 9,
    "Thai": "เดือนที่แล้วเราย้ายไปปอร์โตเพราะค่าเช่าถูกกว่า " * 9,
    "Burmese": "ပြီးခဲ့တဲ့လက ပေါ်တိုကို ပြောင်းရွှေ့ခဲ့တယ်။ " * 9,
    "Amharic": "ባለፈው ወር ወደ ፖርቶ ተዛወርን ምክንያቱም ኪራይ ርካሽ ነው። " * 9,
    "emoji": "😀👩‍👩‍👧‍👦🏳️‍🌈🫨🇵🇹👍🏽 " * 20,
    "special tokens": "<|endoftext|><|im_start|>" * 9,
}
DRAWN = 1_500
"""Texts, of each kind."""


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """tiktoken's own encodings; it checks the vocabularies' digests, and fetches nothing."""
    folder = tmp_path_factory.mktemp("vocabularies")
    package = distribution("bpe-openai")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        for name in ENCODINGS:
            url = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
            packed = Path(
                str(package.locate_file(f"bpe_openai/data/{name}.tiktoken.gz"))
            ).read_bytes()
            key = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
            (folder / key).write_bytes(gzip.decompress(packed))
        return [tiktoken.Encoding(**getattr(openai_public, name)()) for name in ENCODINGS]


def measure(text: str, references: Reference) -> int:
    return max(len(encoding.encode_ordinary(text)) for encoding in references)


@pytest.mark.parametrize("kind", TABLE)
def test_no_script_counts_less_than_by_the_tokenizers(kind: str, references: Reference) -> None:
    assert COUNTERS["max"].count(TABLE[kind]) >= measure(TABLE[kind], references)


def draw_any(rng: random.Random) -> str:
    tops = [0x7F, 0x7FF, 0xD7FF, 0x1FFFF, 0x10FFFF]
    letters = [chr(rng.randint(0, rng.choice(tops))) for _ in range(rng.randint(1, 80))]
    return "".join(letter for letter in letters if not "\ud800" <= letter <= "\udfff")


def draw_block(rng: random.Random) -> str:
    first = 16 * rng.choice([rng.randint(0, 0xD60), rng.randint(0xE00, 0x1FFF)])
    return "".join(rng.choice([" ", chr(first + rng.randint(0, 127))]) for _ in range(60))


def draw_mixed(rng: random.Random) -> str:
    return "".join(rng.choice(" \t\n\r\u00a0\u3000aZ.,/(_'s09é中ह😀{}-") for _ in range(80))


@pytest.mark.parametrize("draw", [draw_any, draw_block, draw_mixed])
def test_no_drawn_text_counts_less(
    draw: Callable[[random.Random], str], references: Reference
) -> None:
    rng = random.Random(18)
    low = [
        text
        for text in (draw(rng) for _ in range(DRAWN))
        if COUNTERS["max"].count(text) < measure(text, references)
    ]
    assert not low


def test_english_costs_little_more_than_by_the_rule() -> None:
    text = "We moved to Porto last month, because the rent is lower there, and I like it. " * 20
    by_rule = COUNTERS["chars4"].count(text)
    assert by_rule <= COUNTERS["max"].count(text) <= 1.08 * by_rule
