"""The format of a key's secret, and what is stored of it."""

import base64
import hashlib
import hmac
import re
import secrets

from django.conf import settings

CHECK_CHARACTERS = 11
SECRET = re.compile(r"mem_([\w-]{43})([\w-]{11})?", re.ASCII)
"""Pattern of a secret. The second part, missing in old ones, only this server can make."""


def make_secret() -> str:
    """Return a new secret: 256 random bits, followed by their check."""
    random = secrets.token_urlsafe(32)
    return f"mem_{random}{_write_check(random)}"


def hash_secret(secret: str) -> str:
    """Return the keyed hash under which a secret is stored."""
    pepper = settings.KEY_PEPPER.encode()
    return hmac.new(pepper, secret.encode(), hashlib.sha256).hexdigest()


def fingerprint_pepper() -> str:
    """Return the pepper's fingerprint for the database; it reveals nothing about it."""
    pepper = settings.KEY_PEPPER.encode()
    return hmac.digest(pepper, b"fingerprint of the key pepper", "sha256").hex()


def may_exist(secret: str) -> bool:
    """Return whether this server may have made a secret, without a query.

    A wrong check excludes it. Old secrets have none: only their format is checked.
    """
    parts = SECRET.fullmatch(secret)
    return parts is not None and (parts[2] is None or _is_right(*parts.groups()))


def has_form(secret: str) -> bool:
    """Return whether it has the format of a secret, of this server or another."""
    return SECRET.fullmatch(secret) is not None


def has_check(secret: str) -> bool:
    """Return whether this server made a secret, by the check in it."""
    parts = SECRET.fullmatch(secret)
    return parts is not None and parts[2] is not None and _is_right(*parts.groups())


def _is_right(random: str, check: str) -> bool:
    return hmac.compare_digest(check, _write_check(random))


def _write_check(random: str) -> str:
    """Return the check after the random part of a secret.

    Its input differs from every secret, so it is no secret's hash.
    """
    digest = hmac.digest(settings.KEY_PEPPER.encode(), f"check:{random}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode()[:CHECK_CHARACTERS]
