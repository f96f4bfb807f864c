"""What was sealed by a passphrase opens by it alone, and only unchanged."""

from __future__ import annotations

import io

import pytest

from wings.operations.archive.sealing import PART, NotOpened, Sealer, open_sealed


def seal(data: bytes, *, passphrase: str = "so", name: str = "dump") -> bytes:
    written = io.BytesIO()
    sealer = Sealer(written.write, passphrase=passphrase, name=name)
    for start in range(0, len(data), 700_000):
        sealer.write(data[start : start + 700_000])
    sealer.close()
    return written.getvalue()


def unseal(data: bytes, *, passphrase: str = "so", name: str = "dump") -> bytes:
    return b"".join(open_sealed(io.BytesIO(data).read, passphrase=passphrase, name=name))


@pytest.mark.parametrize("size", [0, 1, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 5])
def test_what_was_sealed_is_opened(size: int) -> None:
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    assert unseal(seal(data)) == data


def test_what_was_changed_is_not_opened() -> None:
    sealed = seal(b"x" * (2 * PART))
    part = PART + 16
    first, second = sealed[23 : 23 + part], sealed[23 + part :]
    for changed in (
        sealed[:-1],
        sealed[: 23 + part],
        sealed[:23] + second + first,
        sealed[:40] + b"?" + sealed[41:],
        sealed + b"more",
        sealed[:10],
    ):
        with pytest.raises(NotOpened):
            unseal(changed)
    with pytest.raises(NotOpened):
        unseal(sealed, passphrase="others")
    with pytest.raises(NotOpened):
        unseal(sealed, name="secrets")
