"""The server does not start with an embedder that cannot be compared with what is stored."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator

import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from pytest_django import Settings

from indexing.checks import check_pgvector, check_size_of_vectors
from indexing.models import SearchVector
from memoryproject import embedded
from memoryproject.ai import embeddings
from memoryproject.embedded.bootstrap import connect_as_superuser
from tests.conftest import Agent
from tests.embedders import forget_embedders
from tests.talk import whole_talk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    forget_embedders()


@pytest.fixture(scope="module")
def stored(ana: Agent, conversation: uuid.UUID) -> str:
    """Return the name of the model whose vectors the index holds."""
    ana.post("add_messages", {"conversation_id": str(conversation), "messages": whole_talk()})
    ana.flush(conversation)
    return SearchVector.objects.of(ana.tenant).values_list("model", flat=True)[0]


def choose(settings: Settings, *, model: str, dim: int) -> None:
    settings.EMBEDDINGS, settings.EMBEDDING_MODEL, settings.EMBEDDING_DIM = "openai", model, dim
    settings.EMBEDDING_PREFIXES = ("", "")  # or those that are known would belong to the name
    forget_embedders()


def check() -> None:
    call_command("check", databases=["default"], stdout=io.StringIO())


def test_the_model_that_filled_the_index_passes(stored: str) -> None:
    check()


def test_another_size_under_the_same_name_is_refused(stored: str, settings: Settings) -> None:
    choose(settings, model=stored, dim=1536)
    with pytest.raises(SystemCheckError, match=r"size 1536, but .* size 384"):
        check()
    # Commands that need no database do not ask it.
    assert check_size_of_vectors(databases=None) == []


def test_another_model_may_have_another_size(stored: str, settings: Settings) -> None:
    choose(settings, model="another", dim=1536)
    check()


@pytest.mark.parametrize("embedder", ["local", "minilm"])
def test_an_empty_index_takes_any_model(embedder: str, settings: Settings) -> None:
    settings.EMBEDDINGS = embedder
    forget_embedders()
    check()


def test_two_embedded_models_of_one_size_have_two_names(stored: str, settings: Settings) -> None:
    settings.EMBEDDINGS = "minilm"
    forget_embedders()
    assert embeddings.get_embedder().name != stored
    check()


def test_a_pgvector_that_is_too_old_is_refused() -> None:
    assert check_pgvector(databases=["default"]) == []
    address = embedded.locate(configured.DATA_DIR).address
    older = "UPDATE pg_extension SET extversion = %s WHERE extname = 'vector' RETURNING 1"
    with connect_as_superuser(address, database=address.database) as boss:
        (version,) = boss.execute(
            "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        ).fetchone() or ("",)
        boss.execute(older, ["0.7.4"])
        try:
            (fault,) = check_pgvector(databases=["default"])
        finally:
            boss.execute(older, [version])
    assert fault.id == "indexing.E002" and "0.7.4" in fault.msg
