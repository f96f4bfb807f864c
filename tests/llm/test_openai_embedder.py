"""The embedder behind an endpoint: right vectors, or none at all."""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from episodic.episode_index import PATIENCE
from episodic.models import Episode
from indexing.models import SearchVector
from indexing.queries import units_without_vector
from jobs.draining import drain_jobs
from jobs.models import Job, State
from memoryproject.ai import embeddings, providers
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable, OperatorFault
from memoryproject.ai.models import Breaker
from memoryproject.ai.remote_embedder import OPENAI_BATCH, OpenAIEmbedder
from tests.conftest import Agent
from tests.embedders import forget_embedders
from tests.llm.conftest import flush_job, post, run_again
from tests.model_server import Asked, ModelServer, Reply, embeds, fails, run_model_server, sends
from tests.talk import MORNING, MOVING, messages

pytestmark = pytest.mark.django_db

DIM = 8


@pytest.fixture
def server(settings: Settings) -> Iterator[ModelServer]:
    with run_model_server() as server:
        settings.OPENAI_BASE_URL = settings.EMBEDDING_BASE_URL = server.url
        settings.MODEL_TIMEOUT_S = 10
        yield server
        providers.forget()


@pytest.fixture
def embedder(server: ModelServer) -> Iterator[OpenAIEmbedder]:
    yield OpenAIEmbedder(model="scripted", dim=2)


@pytest.fixture
def remote(server: ModelServer, settings: Settings) -> Iterator[ModelServer]:
    """The whole server embeds by the endpoint."""
    settings.EMBEDDINGS, settings.EMBEDDING_MODEL, settings.EMBEDDING_DIM = (
        "openai",
        "scripted",
        DIM,
    )
    forget_embedders()
    yield server
    forget_embedders()


def embed_words(asked: Asked) -> Reply:
    """Answer a vector a text that depends on the text alone."""
    digests = [hashlib.sha256(text.encode()).digest() for text in asked.body["input"]]
    return embeds([[byte - 127.5 for byte in digest[:DIM]] for digest in digests])


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(
    embedder: OpenAIEmbedder, server: ModelServer
) -> None:
    server.script("embed", embeds([[3, 4], [0, -2], [1e300, 0]]))
    vectors = embedder.embed_passages(["a", "b", "c"])
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, np.array([[0.6, 0.8], [0, -1], [1, 0]]))
    assert server.asked[0].body["input"] == ["a", "b", "c"]


def test_many_and_long_texts_are_asked_for_in_parts(
    embedder: OpenAIEmbedder, server: ModelServer
) -> None:
    server.script("embed", embeds([[1, 0]] * OPENAI_BATCH), embeds([[0, 1]]))
    vectors = embedder.embed_passages(["長" * 60_000] * (OPENAI_BATCH + 1))
    assert vectors.shape == (OPENAI_BATCH + 1, 2) and vectors[-1].tolist() == [0, 1]
    assert all(len(text) <= 8_000 for asked in server.asked for text in asked.body["input"])


def test_vectors_come_as_bytes(embedder: OpenAIEmbedder, server: ModelServer) -> None:
    packed = base64.b64encode(np.array([3, 4], dtype="<f4").tobytes()).decode()
    server.script("embed", sends({"data": [{"index": 0, "embedding": packed}]}))
    assert np.allclose(embedder.embed_query("a"), [0.6, 0.8])
    assert server.asked[0].body["encoding_format"] == "base64"


def test_a_server_that_knows_no_bytes_is_asked_for_numbers(
    embedder: OpenAIEmbedder, server: ModelServer
) -> None:
    refusal = {"error": {"message": "unknown encoding_format", "param": "encoding_format"}}
    server.script("embed", sends(refusal, status=400), embeds([[3, 4]]), embeds([[4, 3]]))
    assert np.allclose(embedder.embed_query("a"), [0.6, 0.8])
    assert np.allclose(embedder.embed_query("b"), [0.8, 0.6])
    formats = [asked.body["encoding_format"] for asked in server.asked]
    assert formats == ["base64", "float", "float"]


BAD: dict[str, Reply] = {
    "too few": embeds([]),
    "too many": embeds([[1, 0], [0, 1]]),
    "a vector without direction": embeds([[0, 0]]),
    "NaN": embeds([[float("nan"), 1]]),
    "Infinity": embeds([[float("inf"), 1]]),
    "text": sends({"data": [{"index": 0, "embedding": "AAAA"}]}),
    "half a float": sends({"data": [{"index": 0, "embedding": "AAAAAAAA"}]}),
    "another place": sends({"data": [{"index": 1, "embedding": [1, 0]}]}),
    "another form": sends({"vectors": [[1, 0]]}),
    "a refusal": fails(400),
}
AWAY: dict[str, Reply] = {
    "an internal error": fails(500),
    "too many requests": fails(429, retry_after="7"),
    "a wrong key": fails(401),
    "a closed connection": Reply(drop=True),
    "a proxy's page": Reply(body=b"<html>"),
    "an overload, said with 200": sends({"error": {"message": "Overloaded: Ghent", "code": 529}}),
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_bad_vectors_are_refused(
    answer: Reply, embedder: OpenAIEmbedder, server: ModelServer
) -> None:
    server.script("embed", answer)
    with pytest.raises(ModelMisbehaved) as refused:
        embedder.embed_passages(["a secret"])
    assert "secret" not in str(refused.value) and "Ghent" not in str(refused.value)


@pytest.mark.parametrize("answer", AWAY.values(), ids=AWAY)
def test_an_endpoint_that_is_away_may_come_back(
    answer: Reply, embedder: OpenAIEmbedder, server: ModelServer
) -> None:
    server.script("embed", answer)
    with pytest.raises(ModelUnavailable) as away:
        embedder.embed_query("a secret")
    assert "secret" not in str(away.value) and "Ghent" not in str(away.value)


@pytest.mark.django_db
def test_without_the_endpoint_an_answer_comes_from_words_alone(
    remote: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    remote.always("embed", embed_words)
    post(ana, conversation, messages(MOVING, MORNING))
    assert ana.flush(conversation).later == 0
    body = {"conversation_id": str(conversation), "query": "forty boxes of books"}
    remote.script("embed", fails(503))
    answer = ana.post("retrieve_memory", body)
    assert (answer.status_code, answer["Memory-Degraded"]) == (200, "no_vectors")
    assert "forty boxes of books" in answer.content.decode()
    again = ana.post("retrieve_memory", body)
    assert again.status_code == 200 and not again.has_header("Memory-Degraded")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("answer", "error", "attempts"),
    [
        (fails(500), "ModelUnavailable", 0),
        (embeds([[0] * DIM] * 8), "ModelMisbehaved", 0),
        (embeds([[1, 0]] * 8), "OperatorFault", 0),
    ],
    ids=["away", "misbehaving", "of another size"],
)
def test_work_waits_for_vectors(
    answer: Any,
    error: str,
    attempts: int,
    remote: ModelServer,
    ana: Agent,
    conversation: uuid.UUID,
) -> None:
    post(ana, conversation, messages(MOVING, MORNING))
    remote.script("embed", answer)
    ana.flush(conversation)
    job = flush_job(ana)
    assert (job.state, job.error_class, job.attempts) == (State.READY, error, attempts)
    assert not Episode.objects.of(ana.tenant).exists()
    remote.always("embed", embed_words)
    Breaker.objects.update(open_until=Now())
    run_again(job)
    assert job.state == State.DONE and Episode.objects.of(ana.tenant).exists()


@pytest.mark.django_db
def test_when_vectors_stay_away_episodes_are_found_by_words_and_embedded_later(
    remote: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, messages(MOVING, MORNING))
    remote.always("embed", fails(503))
    ana.flush(conversation)
    assert not Episode.objects.of(ana.tenant).exists(), "it may be back in a minute"
    job = flush_job(ana)
    Job.objects.of(ana.tenant).filter(id=job.id).update(created_at=Now() - PATIENCE)
    run_again(job)
    assert Episode.objects.of(ana.tenant).exists()
    assert not SearchVector.objects.of(ana.tenant).exists()
    body = {"conversation_id": str(conversation), "query": "forty boxes of books"}
    answer = ana.post("retrieve_memory", body)
    assert answer["Memory-Degraded"] == "no_vectors"
    assert "forty boxes of books" in answer.content.decode()

    remote.always("embed", embed_words)
    for _ in range(3):
        Breaker.objects.all().delete()
        Job.objects.of(ana.tenant).filter(state=State.READY).update(run_after=Now())
        drain_jobs()
    kinds = SearchVector.objects.of(ana.tenant).values_list("kind", flat=True)
    assert kinds.filter(kind="message").count() == 8 and kinds.filter(kind="episode").exists()
    assert not units_without_vector(
        tenant=ana.tenant,
        conversation_id=Episode.objects.of(ana.tenant)[0].conversation_id,
        model="scripted",
        at_most=1,
    )
    assert set(Job.objects.of(ana.tenant).values_list("state", flat=True)) == {State.DONE}
    answered = ana.post("retrieve_memory", body)
    assert not answered.has_header("Memory-Degraded")


def test_another_size_is_named(embedder: OpenAIEmbedder, server: ModelServer) -> None:
    server.script("embed", embeds([[1, 2, 3]]))
    with pytest.raises(OperatorFault, match="size 3, not 2: see MEMORY_EMBEDDING_DIM"):
        embedder.embed_query("a")


def takes_at_most(server: ModelServer, *, texts: int = 1000, characters: int = 10**6) -> None:
    """Let a server refuse more texts or longer ones than that, as they are known to."""

    def gate(asked: Asked) -> Reply | None:
        sent = asked.body["input"]
        if len(sent) > texts:
            said = {"error": f"batch size {len(sent)} > maximum allowed batch size {texts}"}
            return sends(said, status=413)
        if max(map(len, sent)) > characters:
            error = {"message": "input is too large to process. increase the batch size"}
            return sends({"error": error}, status=500)
        return None

    server.refuse(gate)
    server.always("embed", lambda asked: embeds([[1, 0]] * len(asked.body["input"])))


def test_a_limit_of_texts_is_learnt_by_halves_and_kept(
    embedder: OpenAIEmbedder, server: ModelServer
) -> None:
    takes_at_most(server, texts=8)
    texts = [f"text {number}" for number in range(32)]
    assert embedder.embed_passages(texts).shape == (32, 2)
    before = len(server.asked)
    assert embedder.embed_passages(texts).shape == (32, 2)
    assert [len(asked.body["input"]) for asked in server.asked[before:]] == [8] * 4
    row = Breaker.objects.get(model="scripted")
    assert (row.texts_at_most, row.characters_at_most) == (8, None)
    another = OpenAIEmbedder(model="scripted", dim=2)
    another.embed_passages(texts[:16])
    assert len(server.asked[-1].body["input"]) == 8, "another process knows it as well"


def test_a_limit_of_characters_is_learnt_by_halves_and_kept(
    embedder: OpenAIEmbedder, server: ModelServer
) -> None:
    takes_at_most(server, characters=2_048)
    assert embedder.embed_passages(["short", "x" * 7_000]).shape == (2, 2)
    before = len(server.asked)
    embedder.embed_passages(["short", "x" * 7_000])
    assert [[*map(len, asked.body["input"])] for asked in server.asked[before:]] == [[5, 1_750]]
    row = Breaker.objects.get(model="scripted")
    assert (row.texts_at_most, row.characters_at_most) == (None, 1_750)


def test_prefixes_stand_before_texts_and_are_a_part_of_the_models_name(
    server: ModelServer,
) -> None:
    prefixes = embeddings.find_prefixes("nomic-embed-text:latest")
    assert prefixes == ("search_query: ", "search_document: ")
    made = OpenAIEmbedder(model="nomic-embed-text", dim=2, prefixes=prefixes)
    server.script("embed", embeds([[1, 0]]), embeds([[1, 0]]))
    made.embed_query("where?")
    made.embed_passages(["there"])
    inputs = [asked.body["input"] for asked in server.asked]
    assert inputs == [["search_query: where?"], ["search_document: there"]]
    assert made.name.startswith("nomic-embed-text+") and made.model == "nomic-embed-text"
    assert embeddings.find_prefixes("text-embedding-3-small") == ("", "")


def test_a_size_of_ones_own_is_asked_for_unless_that_is_refused(server: ModelServer) -> None:
    made = OpenAIEmbedder(model="scripted", dim=2, sends_dim=True)
    said = "Model does not support matryoshka representation, changing output dimensions"
    server.script("embed", embeds([[1, 0]]), sends({"message": said}, status=400))
    server.script("embed", embeds([[1, 0]]), embeds([[1, 0]]))
    for text in ("a", "b", "c"):
        made.embed_query(text)
    assert [asked.body.get("dimensions") for asked in server.asked] == [2, 2, None, None]


def test_vectors_without_places_come_in_the_order_of_the_texts(
    embedder: OpenAIEmbedder, server: ModelServer
) -> None:
    server.script("embed", sends({"data": [{"embedding": [3, 4]}, {"embedding": [0, 2]}]}))
    assert np.allclose(embedder.embed_passages(["a", "b"]), [[0.6, 0.8], [0, 1]])


def test_the_key_of_the_language_model_goes_to_no_other_server(
    server: ModelServer, settings: Settings
) -> None:
    settings.EMBEDDING_API_KEY = "another"
    server.script("embed", embeds([[1, 0]]))
    OpenAIEmbedder(model="scripted", dim=2).embed_query("a")
    assert server.asked[0].authorization == "Bearer another"
