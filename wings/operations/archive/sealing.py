"""Encrypts a stream with a passphrase, in parts, and detects any change to it.

Scrypt derives the key; each part is encrypted by AES-256-GCM with a nonce from its number and
whether it is the last (the STREAM construction): parts cannot be changed, swapped or removed.
"""

import os
import struct
from collections.abc import Callable, Iterator

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

PART = 1024 * 1024
"""Bytes of a part before encryption."""
TAG, SALT, PREFIX = 16, 16, 7
SCRYPT_COST = 2**15
"""32 MB and a tenth of a second for each guess."""


class NotOpened(Exception):
    """The passphrase is wrong, or the data has been changed."""


class Sealer:
    """Encrypts what it is given; without a final `close` the result cannot be opened."""

    def __init__(self, write: Callable[[bytes], object], *, passphrase: str, name: str) -> None:
        """Encrypt for a reader with the same `name`, so that streams cannot be exchanged."""
        salt, self._prefix = os.urandom(SALT), os.urandom(PREFIX)
        self._write, self._name, self._number = write, name.encode(), 0
        self._cipher = AESGCM(_derive_key(passphrase, salt))
        self._pending = bytearray()
        write(salt + self._prefix)

    def write(self, data: bytes) -> None:
        self._pending += data
        while len(self._pending) > PART:  # what may be the last part waits for `close`
            self._seal(bytes(self._pending[:PART]), is_last=False)
            del self._pending[:PART]

    def close(self) -> None:
        self._seal(bytes(self._pending), is_last=True)

    def _seal(self, part: bytes, *, is_last: bool) -> None:
        nonce = _make_nonce(self._prefix, self._number, is_last)
        self._write(self._cipher.encrypt(nonce, part, self._name))
        self._number += 1


def open_sealed(read: Callable[[int], bytes], *, passphrase: str, name: str) -> Iterator[bytes]:
    """Yield the decrypted parts, each only after it is verified.

    Raises:
        NotOpened: the passphrase is wrong, or a part was changed or is missing.
    """
    head = _read_exactly(read, SALT + PREFIX)
    salt, prefix = head[:SALT], head[SALT:]
    if len(prefix) < PREFIX:
        raise NotOpened
    cipher = AESGCM(_derive_key(passphrase, salt))
    part, number = _read_exactly(read, PART + TAG), 0
    while True:
        following = _read_exactly(read, PART + TAG)
        try:
            nonce = _make_nonce(prefix, number, not following)
            yield cipher.decrypt(nonce, part, name.encode())
        except InvalidTag as error:
            raise NotOpened from error
        if not following:
            return
        part, number = following, number + 1


def _derive_key(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=32, n=SCRYPT_COST, r=8, p=1).derive(passphrase.encode())


def _make_nonce(prefix: bytes, number: int, is_last: bool) -> bytes:
    return prefix + struct.pack(">IB", number, is_last)


def _read_exactly(read: Callable[[int], bytes], size: int) -> bytes:
    """Read `size` bytes, or less at the end."""
    found = bytearray()
    while len(found) < size and (more := read(size - len(found))):
        found += more
    return bytes(found)
