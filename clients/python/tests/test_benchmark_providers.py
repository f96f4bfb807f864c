"""What `bench/providers` gives to the harnesses of other benchmarks, without these."""

from __future__ import annotations

import importlib
import json
import threading
import urllib.request
import uuid
from pathlib import Path

import pytest

from memory_server_client import Client

PROVIDERS = Path(__file__).parents[3] / "bench" / "providers"
ANA, BO = "My cat is called Tom.", "My dog is called Rex."


@pytest.fixture(autouse=True)
def providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files be imported as in a harness, which has copies of them."""
    monkeypatch.syspath_prepend(str(PROVIDERS))


def test_documents_are_found_by_their_user_alone_with_their_times() -> None:
    module = importlib.import_module("agent_memory_benchmark")
    provider, ana, bo = module.MemoryServer(), f"ana-{uuid.uuid4()}", f"bo-{uuid.uuid4()}"
    turns = [{"role": "user", "content": ANA}, {"role": "assistant", "content": "A fine name!"}]
    spoken = json.dumps([{"speaker": "Bo", "text": BO, "dia_id": "D1:1"}])
    documents = [
        module.Document("1", "…", ana, messages=turns, timestamp="2023-05-08T13:56:00+00:00"),
        module.Document("1", spoken, bo, timestamp="2023-05-09T13:56:00+00:00"),
        module.Document("2", "I live in Porto.", bo),
    ]
    provider.ingest(documents)
    provider.ingest(documents)  # stores nothing twice
    (answer,), _ = provider.retrieve("What is my pet called?", user_id=ana)
    assert ANA in answer.content and "8 May 2023" in answer.content and BO not in answer.content
    (answer,), _ = provider.retrieve("What is my pet called, and where do I live?", user_id=bo)
    assert f'Bo: "{BO}"' in answer.content and "Porto" in answer.content
    assert "Tom" not in answer.content
    assert provider.retrieve("What is my pet called?", user_id="nobody") == ([], None)
    provider.cleanup()


def test_what_is_added_is_searched_by_its_user_alone_with_its_time() -> None:
    client = importlib.import_module("omnimemeval").MemoryServer()
    ana, bo = f"ana-{uuid.uuid4()}", f"bo-{uuid.uuid4()}"
    for user, name, text in ((ana, "Ana", ANA), (bo, "Bo", BO)):
        said = {"role": "user", "name": name, "content": f"{name}: {text}"}
        client.add([said | {"chat_time": "2023-05-08T13:56:00+00:00"}], user, batch_size=2)
    found = client.search("What is my pet called?", ana, 20)
    assert f'Ana: "{ANA}"' in found and "8 May 2023" in found and BO not in found
    assert client.search("What is my pet called?", "nobody", 20) == ""


def test_beliefs_come_back_by_their_id_and_user_until_they_are_reset() -> None:
    module = importlib.import_module("precision_mem_bench")
    with Client() as client, module.serve(module.Beliefs(client), 0) as server:
        threading.Thread(target=server.serve_forever).start()

        def call(method: str, path: str, **body: object) -> dict[str, list[dict[str, str]]]:
            url = f"http://127.0.0.1:{server.server_port}{path}"
            request = urllib.request.Request(url, json.dumps(body).encode(), method=method)
            with urllib.request.urlopen(request) as answer:
                return dict(json.load(answer))

        try:
            for user, text in (("ana", ANA), ("bo", BO)):
                call("POST", "/add", text=text, user_id=user, metadata={"beliefId": f"b-{user}"})
            asked = {"query": "What is my pet called?", "user_id": "ana", "limit": 20}
            (found,) = call("POST", "/search", **asked)["results"]
            assert found["id"] == "b-ana" and ANA in found["memory"]
            assert call("POST", "/search", **asked | {"query": ""})["results"] == []
            call("DELETE", "/reset")
            assert call("POST", "/search", **asked)["results"] == []
        finally:
            server.shutdown()
