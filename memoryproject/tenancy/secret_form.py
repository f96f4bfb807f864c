"""What the secret of a key looks like, and what of it is stored."""

import base64
import hashlib
import hmac
import re
import secrets

from django.conf import settings

CHECK_CHARACTERS = 11
SECRET = re.compile(r"mem_([\w-]{43})([\w-]{11})?", re.ASCII)
"""The second part, which older secrets lack, only this server can write beside the first."""


def make_secret() -> str:
    """Return a new secret: 256 random bits, and behind them a check of their own."""
    random = secrets.token_urlsafe(32)
    return f"mem_{random}{_write_check(random)}"


def hash_secret(secret: str) -> str:
    """Return the keyed hash under which a secret is stored."""
    pepper = settings.KEY_PEPPER.encode()
    return hmac.new(pepper, secret.encode(), hashlib.sha256).hexdigest()


def fingerprint_pepper() -> str:
    """Return what the database keeps to know the key pepper again; it says nothing about it."""
    pepper = settings.KEY_PEPPER.encode()
    return hmac.digest(pepper, b"fingerprint of the key pepper", "sha256").hex()


def may_exist(secret: str) -> bool:
    """Return whether this server may have made a secret; asks nobody.

    A wrong check settles it. Older secrets have none: of those only the form is seen.
    """
    parts = SECRET.fullmatch(secret)
    return parts is not None and (parts[2] is None or _is_right(*parts.groups()))


def has_form(secret: str) -> bool:
    """Return whether it looks like a secret of some server of ours, this one or another."""
    return SECRET.fullmatch(secret) is not None


def has_check(secret: str) -> bool:
    """Return whether this server has made a secret, by the check in it."""
    parts = SECRET.fullmatch(secret)
    return parts is not None and parts[2] is not None and _is_right(*parts.groups())


def _is_right(random: str, check: str) -> bool:
    return hmac.compare_digest(check, _write_check(random))


def _write_check(random: str) -> str:
    """Return what stands behind the random part of a secret.

    What it is made of differs from every secret: it is no hash of one.
    """
    digest = hmac.digest(settings.KEY_PEPPER.encode(), f"check:{random}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode()[:CHECK_CHARACTERS]
