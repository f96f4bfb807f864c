"""A disk without room: refused whole, stored whole, and all goes on when there is room."""

from __future__ import annotations

import os
import random
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.reliability.client import Caller, assert_unavailable
from tests.reliability.product import Product, installed, web
from tests.reliability.test_degradation import wait_for

ROOM_BYTES = 300 * 1024 * 1024
LEFT_BYTES = 3 * 1024 * 1024
BATCH = 20
BATCHES = 30
TALK = {"conversation_id": str(uuid.UUID(int=7))}


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk in memory, which root alone may mount."""
    place = folder / "disk"
    place.mkdir(mode=0o711)
    size = f"size={ROOM_BYTES},mode=0711"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Leave little room on the disk."""
    ballast = disk / "ballast"
    room = os.statvfs(disk)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - LEFT_BYTES)
    yield
    ballast.unlink()


def say(caller: Caller, number: int) -> tuple[int, list[dict[str, object]]]:
    noise = random.Random(number)  # so that it cannot be made smaller
    said = [
        {"role": "user", "content": f"{number}.{part} {noise.randbytes(10_000).hex()}"}
        for part in range(BATCH)
    ]
    answer = caller.post("add_messages", {**TALK, "messages": said}, Idempotency_Key=str(number))
    if answer.status == 503:
        assert_unavailable(answer)
        return 503, []
    assert answer.status in {200, 201}, answer.content
    return answer.status, answer.json()["messages"]


@pytest.mark.bench
def test_a_full_disk_loses_nothing_and_stores_no_half(template: Product, small_disk: Path) -> None:
    with installed(template, small_disk) as product:
        product.start()
        with web(product.around()) as port:
            caller = product.caller(port)
            places: dict[int, list[dict[str, object]]] = {}
            refused: list[int] = []
            with filled(small_disk):
                for number in range(BATCHES):
                    status, messages = say(caller, number)
                    places |= {number: messages} if status == 201 else {}
                    refused += [number] if status == 503 else []
                assert refused and len(refused) < BATCHES, "the disk was to fill on the way"
                assert caller.get("health/live").status == 200
            product.start()  # where the full disk has ended it, its keeper starts it again
            wait_for(lambda: caller.get("health/ready").status == 200)
            for number in refused:
                status, places[number] = say(caller, number)
                assert status in {200, 201}
            stored = product.query(
                "SELECT id::text, seq, left(content, strpos(content, ' ') - 1)"
                " FROM episodic_message ORDER BY seq"
            )
        assert [seq for _, seq, _ in stored] == list(range(1, BATCHES * BATCH + 1))
        told = {
            place["message_id"]: (place["seq"], f"{number}.{part}")
            for number, batch in places.items()
            for part, place in enumerate(batch)
        }
        assert {key: (seq, said) for key, seq, said in stored} == told
