"""A model is asked where the settings say, and never where a cloud tells its secrets."""

from __future__ import annotations

import http.server
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

import httpcore2
import httpx2
import pytest
from pytest_django import Settings

from memoryproject.ai import providers, transport
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.ai.transport import AddressRefused, JudgingBackend, JudgingTransport
from memoryproject.process import env
from memoryproject.process.addresses import is_refused
from tests.model_server import ModelServer, Reply, run_model_server, says

KEY = "key-of-the-provider"
CHAT: dict[str, object] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/v1",
        "http://169.254.0.1:8080/v1",
        "http://2852039166/v1",
        "http://0xA9FEA9FE/v1",
        "http://0xa9.0xfe.0xa9.0xfe/v1",
        "http://0251.0376.0251.0376/v1",
        "http://169.254.43518/v1",
        "http://[fe80::1]/v1",
        "http://[fe80::1%25eth0]/v1",
        "http://[::ffff:169.254.169.254]/v1",
        "http://[::ffff:a9fe:a9fe]/v1",
        "http://[64:ff9b::a9fe:a9fe]/v1",
        "http://[64:ff9b:1::a9fe:a9fe]/v1",
        "http://[2002:a9fe:a9fe::1]/v1",
        "http://[fd00:ec2::254]/v1",
        "http://100.100.100.200/v1",
        "http://168.63.129.16/v1",
        "ftp://models.example.com/v1",
        "file:///etc/passwd",
        "models.example.com/v1",
        "gopher://localhost/v1",
        "http:///v1",
        "http://[::1/v1",
        "http://localhost:port/v1",
        "http://user:word@localhost/v1",
        "http://user@localhost/v1",
        "http://localhost/v1?key=secret",
        "http://localhost/v1#a",
    ],
)
def test_an_address_that_may_not_be_asked_is_refused_at_the_start(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(env.SettingError, match=r"^OPENAI_BASE_URL must ") as refused:
        env.read_model_url("OPENAI_BASE_URL", "")
    assert "word" not in str(refused.value).replace("password", "")


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://localhost:11434/v1",
        "http://127.0.0.1:8080/v1",
        "http://[::1]:8080/v1",
        "http://10.0.0.5/v1",
        "http://192.168.1.20:1234/v1",
        "http://[fd12:3456::1]/v1",
        "http://ollama:11434/v1",
    ],
)
def test_a_model_of_ones_own_may_be_asked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert env.read_model_url("OPENAI_BASE_URL", "") == url


def test_a_name_that_leads_to_a_refused_address_is_not_connected_to() -> None:
    """One bad address among good ones is enough: who controls the name chooses the order."""
    tried = JudgingBackend(lambda host, port: ["127.0.0.1", "169.254.169.254"])
    with pytest.raises(AddressRefused):
        tried.connect_tcp("models.example.com", 80, timeout=1)


def test_a_connection_goes_to_the_address_that_was_judged() -> None:
    """A name that changes between the judgement and the connection changes nothing."""
    asked: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    with run_model_server() as server, JudgingTransport(resolve=resolve) as carrier:
        server.always("plain", says("hello"))
        port = int(server.url.rpartition(":")[2].partition("/")[0])
        client = httpx2.Client(transport=carrier)
        url = f"http://name.that.nobody.has.invalid:{port}/v1/chat/completions"
        assert client.post(url, json=CHAT).status_code == 200
        assert asked == ["name.that.nobody.has.invalid"]
        carrier._pool.close()
        with pytest.raises(transport.httpx2.ConnectError):
            client.post(url, json=CHAT)


def test_each_address_of_a_name_is_tried() -> None:
    with run_model_server() as server:
        port = int(server.url.rpartition(":")[2].partition("/")[0])
        backend = JudgingBackend(lambda host, port: ["127.0.0.9", "127.0.0.1"])
        backend.connect_tcp("two.example.com", port, timeout=2).close()


def test_a_name_without_an_address_is_a_failed_connection() -> None:
    with pytest.raises(httpcore2.ConnectError):
        transport.resolve("name.that.nobody.has.invalid", 80)


@pytest.mark.parametrize("text", ["127.0.0.1", "::1", "10.1.2.3", "8.8.8.8", "2606:4700::1111"])
def test_other_addresses_are_not_refused(text: str) -> None:
    assert not is_refused(text)


@contextmanager
def asking(server: ModelServer, settings: Settings) -> Iterator[None]:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = server.url, KEY
    yield
    providers.forget()


def assert_unavailable(*, timeout_s: float = 3.0) -> None:
    with pytest.raises((ModelUnavailable, ModelMisbehaved)):
        providers.ask(
            providers.find_chat_endpoint(),
            lambda client, timeout: client.chat.completions.create(**CHAT, timeout=timeout),
            timeout_s=timeout_s,
        )


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_takes_the_key_nowhere(
    status: int, settings: Settings
) -> None:
    with run_model_server() as elsewhere, run_model_server() as server:
        moved = Reply(status=status, headers={"Location": f"{elsewhere.url}/chat/completions"})
        server.always("plain", moved)
        with asking(server, settings):
            assert_unavailable()
        assert server.asked and not elsewhere.asked


class Endless(http.server.BaseHTTPRequestHandler):
    """Tells of an error, and does not stop."""

    protocol_version = "HTTP/1.0"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(500)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            self.server.hung_up.set()  # type: ignore[attr-defined]

    def log_message(self, format: str, *given: object) -> None:
        """Keep the test's output clean."""


def test_an_error_that_does_not_end_is_cut_off(settings: Settings) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.hung_up = threading.Event()  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    settings.OPENAI_BASE_URL = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        assert_unavailable()
        assert server.hung_up.wait(60), "we have hung up"  # type: ignore[attr-defined]
    finally:
        providers.forget()
        server.shutdown()
        server.server_close()


def test_an_error_that_drips_is_cut_off(settings: Settings) -> None:
    with run_model_server() as server:
        server.always("plain", Reply(body=b"x" * 1000, status=500, drip_s=0.1))
        with asking(server, settings):
            assert_unavailable(timeout_s=0.5)


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"https_proxy": "http://proxy:3128"}, "http://proxy:3128"),
        ({"https_proxy": "proxy:3128"}, "http://proxy:3128"),
        ({"all_proxy": "http://proxy:1"}, "http://proxy:1"),
        ({"http_proxy": "http://proxy:3128"}, None),
        ({"https_proxy": "http://proxy:3128", "no_proxy": "example.com"}, None),
    ],
    ids=str,
)
def test_a_proxy_of_the_environment_is_used(
    environment: dict[str, str], proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert transport.find_proxy("https://models.example.com/v1") == proxy


def drip(listening: socket.socket, *, first: bytes) -> None:
    """Answer each question with some bytes, and then with one more each tenth of a second."""
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with suppress(OSError), connection:
                connection.recv(5_000)
                connection.sendall(first)
                while True:
                    connection.sendall(b"a")
                    time.sleep(0.1)


@pytest.mark.parametrize(
    "first",
    [b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"],
    ids=["headers", "body"],
)
def test_an_answer_that_drips_is_cut_off(first: bytes, settings: Settings) -> None:
    """The usual timeout begins anew with each byte."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=partial(drip, listening, first=first), daemon=True).start()
        settings.OPENAI_BASE_URL = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        started = time.monotonic()
        with pytest.raises(ModelUnavailable) as away:
            providers.ask(
                providers.find_chat_endpoint(),
                lambda client, timeout: client.chat.completions.create(**CHAT, timeout=timeout),
                timeout_s=1.0,
            )
        assert away.value.timed_out and time.monotonic() - started < 30
        providers.forget()


def test_an_answer_of_a_gigabyte_is_cut_off(settings: Settings) -> None:
    sent = 0

    def pour(listening: socket.socket) -> None:
        nonlocal sent
        connection, _ = listening.accept()
        with suppress(OSError), connection:
            connection.recv(5_000)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            while sent < 10**9:
                sent += connection.send(b" " * 65_536)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        pouring = threading.Thread(target=pour, args=(listening,), daemon=True)
        pouring.start()
        settings.OPENAI_BASE_URL = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        with pytest.raises(ModelMisbehaved, match="too long"):
            providers.ask(
                providers.find_chat_endpoint(),
                lambda client, timeout: client.chat.completions.create(**CHAT, timeout=timeout),
                timeout_s=60.0,
            )
        providers.forget()
        pouring.join(30)
    assert sent < 100 * providers.MEGABYTE
