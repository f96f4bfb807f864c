"""Reads environment variables with types, and explains errors.

Every setting can also be given as NAME_FILE, the path of a file with the value, so that secrets
need not be in the environment.
"""

import ipaddress
import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

from memoryproject import embedded
from memoryproject.process import release
from memoryproject.process.addresses import Network, find_fault

Price = tuple[Decimal, Decimal]
"""The price of a million tokens of input and of output."""


DIFFERENT_LETTERS = 5
ROLES = ("curator", "auditor", "operator")


class SettingError(Exception):
    """A setting is invalid; the message names it and says what to do."""


def read_text(name: str, default: str = "") -> str:
    """Return the variable, or the content of the file that NAME_FILE names.

    Raises:
        SettingError: both are set, or the file cannot be read or is empty.
    """
    value = os.environ.get(name, "").strip()
    path = os.environ.get(f"{name}_FILE")
    if not path:
        return value or default
    if value:
        raise SettingError(f"{name} and {name}_FILE are both set; leave one of them out.")
    try:
        content = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise SettingError(f"{name}_FILE names {path}, which cannot be read.") from None
    if not content:
        raise SettingError(f"{name}_FILE names {path}, which is empty.")
    return content


def read_integer(name: str, default: int, *, at_least: int, at_most: int) -> int:
    """Return a whole number between the two bounds, both included."""
    text = read_text(name, str(default))
    try:
        value = int(text)
    except ValueError as error:
        raise SettingError(f"{name} must be a whole number, not {text!r}.") from error
    if not at_least <= value <= at_most:
        raise SettingError(f"{name} must lie between {at_least} and {at_most}, not {value}.")
    return value


def read_flag(name: str) -> bool:
    """Return True for 1, true, yes, on, and False for their opposites and if it is not set."""
    text = read_text(name, "false").lower()
    if text in {"1", "true", "yes", "on"}:
        return True
    if text in {"0", "false", "no", "off"}:
        return False
    raise SettingError(f"{name} must be true or false, not {text!r}.")


def read_choice(name: str, default: str, *, among: Sequence[str]) -> str:
    value = read_text(name, default)
    if value not in among:
        raise SettingError(f"{name} must be one of {', '.join(among)}, not {value!r}.")
    return value


def read_model_url(name: str, default: str) -> str:
    """Return the base URL of a model's server.

    Raises:
        SettingError: it is no URL, contains a secret, or leads to a forbidden address.
    """
    url = read_text(name, default)
    if not url:
        raise SettingError(f"{name} must name the address of your resource: see docs/models.md.")
    fault = find_fault(url)
    if fault:
        raise SettingError(f"{name} {fault}.")
    return url


def read_extra(name: str) -> dict[str, Any]:
    """Return the extra parameters of each question, as keyword arguments for `openai`.

    Written as JSON: `headers`, `query` and `body` are objects, `reasoning_effort` a word.

    Raises:
        SettingError: it is of another form.
    """
    extra = _read_json(name, {})
    places = {"headers": "extra_headers", "query": "extra_query", "body": "extra_body"}
    if not isinstance(extra, dict) or any(
        not isinstance(value, str if key == "reasoning_effort" else dict)
        for key, value in extra.items()
        if key == "reasoning_effort" or key in places
    ):
        raise SettingError(f"{name} must be a JSON object of headers, query and body.")
    if unknown := sorted(extra.keys() - places.keys() - {"reasoning_effort"}):
        raise SettingError(
            f"{name} knows reasoning_effort, headers, query and body, not {', '.join(unknown)};"
            " a field of the question itself goes into body."
        )
    return {str(places.get(key, key)): value for key, value in extra.items()}


def read_prefixes(name: str, default: tuple[str, str] | None) -> tuple[str, str] | None:
    """Return the prefixes for queries and for texts that are embedded.

    Written as JSON, a list of two strings, since their last space counts.

    Raises:
        SettingError: it is of another form.
    """
    pair = _read_json(name, default)
    if pair is None or pair is default:
        return default
    if not isinstance(pair, list) or [type(part) for part in pair] != [str, str]:
        raise SettingError(f'{name} must be JSON such as ["query: ", "passage: "].')
    return pair[0], pair[1]


def _read_json(name: str, default: Any) -> Any:
    text = read_text(name)
    try:
        return json.loads(text) if text else default
    except ValueError:
        raise SettingError(f"{name} must be written as JSON.") from None


def read_networks(name: str) -> list[Network]:
    """Return the IP networks in the variable; may be empty.

    Raises:
        SettingError: one is invalid.
    """
    networks = []
    for text in read_words(name, []):
        try:
            networks.append(ipaddress.ip_network(text))
        except ValueError as error:
            raise SettingError(f"{name} must hold networks as 10.0.0.0/8, not {text!r}.") from error
    return networks


def read_amount(name: str) -> Decimal | None:
    """Return an amount of money, or None if the variable is not set.

    Raises:
        SettingError: it is not a number, or below zero.
    """
    text = read_text(name)
    return _to_amount(name, text) if text else None


def read_prices(name: str, known: dict[str, Price]) -> dict[str, Price]:
    """Return `known` prices, overridden by those given as "model=input/output, …".

    Both numbers are for a million tokens.
    """
    prices = dict(known)
    for entry in read_words(name, []):
        model, _, price = entry.rpartition("=")
        parts = price.split("/")
        if not model or len(parts) != 2:
            raise SettingError(f"{name} is written as model=input/output, not {entry!r}.")
        prices[model.strip()] = (_to_amount(name, parts[0]), _to_amount(name, parts[1]))
    return prices


def _to_amount(name: str, text: str) -> Decimal:
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        amount = Decimal(-1)
    if not (amount.is_finite() and 0 <= amount < 10**6):
        raise SettingError(f"{name} must hold amounts from 0 to a million, not {text!r}.")
    return amount


class Grant(NamedTuple):
    """A role in one tenant or, without a tenant, in all."""

    role: str
    tenant: str = ""


def read_grants(name: str) -> list[tuple[str, Grant]]:
    """Return the roles for values of a claim, written as "value=role, value=role@tenant, …"."""
    grants = []
    for entry in read_words(name, []):
        value, _, given = entry.rpartition("=")
        role, _, tenant = given.partition("@")
        if not value.strip() or role.strip() not in ROLES:
            raise SettingError(f"{name}: write value=role[@tenant], one of {ROLES}, not {entry!r}.")
        grants.append((value.strip(), Grant(role.strip(), tenant.strip())))
    return grants


def require_packages(chosen: str, *packages: str, extra: str = "") -> None:
    """Raise now, not at the first request, if the chosen option's packages are not installed."""
    extras = f"[{extra}]" if extra else ""
    lock = f"requirements-{extra}.lock" if extra else "requirements.lock"
    cure = f"start with make run, or install {lock} into .venv"
    if release.IS_WHEEL:
        cure = f"install memory-server{extras}, as in pipx install 'memory_server-….whl{extras}'"
    if any(find_spec(package) is None for package in packages):
        raise SettingError(f"{chosen} needs packages that are not installed: {cure}.")


def read_words(name: str, default: Sequence[str]) -> list[str]:
    """Return a list of words separated by commas."""
    text = read_text(name)
    return [word.strip() for word in text.split(",") if word.strip()] if text else list(default)


def read_or_make_secret(name: str, *, file: Path, characters: int) -> str:
    """Return the secret NAME, or the one stored in `file`, or a new one stored there.

    The file gets mode 0600. Processes that start at the same time agree on one secret: the complete
    file is linked into place, so nobody reads half of it.

    Raises:
        SettingError: it has fewer than `characters`, or does not look like a secret.
    """
    value = read_text(name)
    if not value and not file.exists():
        _write_secret(file)
    secret = value or _read_kept(name, file)
    is_poor = len(set(secret)) < DIFFERENT_LETTERS or secret.startswith("django-insecure-")
    if len(secret) < characters or is_poor:
        raise SettingError(
            f"{name if value else file} is too easy to guess: it needs {characters} random"
            " characters or more, as `openssl rand -hex 32` makes them."
        )
    return secret


def _read_kept(name: str, file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SettingError(
            f"{file} cannot be read; set {name}, or run as the user that owns it."
        ) from error


def _write_secret(file: Path) -> None:
    try:
        embedded.make_data_dir(file.parent)
        with NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name}.") as draft:
            draft.write(secrets.token_urlsafe(48))
            draft.flush()
            with suppress(FileExistsError):
                os.link(draft.name, file)
    except OSError as error:
        raise SettingError(
            f"{file.parent} cannot be written; set MEMORY_DATA_DIR to a folder of yours."
        ) from error
