"""Encrypts a stream with a passphrase, part by part, and detects any change to it.

Scrypt makes the key; each part is sealed by AES-256-GCM under a nonce that holds its number and
whether it is the last (the STREAM construction): parts cannot be changed, swapped or cut off.
"""

import os
import struct
from collections.abc import Callable, Iterator

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

PART = 1024 * 1024
"""Bytes of a part before it is sealed."""
TAG, SALT, PREFIX = 16, 16, 7
SCRYPT_COST = 2**15
"""32 MB and a tenth of a second for each guess."""


class NotOpened(Exception):
    """The passphrase is not the one, or what was sealed has been changed."""


class Sealer:
    """Writes what it is given, sealed; call `close` with the end, or it cannot be opened."""

    def __init__(self, write: Callable[[bytes], object], *, passphrase: str, name: str) -> None:
        """Seal for a reader who gives the same `name`: of two streams none passes for the other."""
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
    """Yield what was sealed, a part at a time, each only when it is known to be unchanged.

    Raises:
        NotOpened: the passphrase is another, or a part was changed or is missing.
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
    """Read until there are `size` bytes, or no more."""
    found = bytearray()
    while len(found) < size and (more := read(size - len(found))):
        found += more
    return bytes(found)
