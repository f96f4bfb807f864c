"""Decides which addresses may be called: never a cloud's metadata service.

A model's server on this machine or in a private network is normal, and allowed; a webhook is set by
a tenant, and may only lead to private networks that the operator has named.
"""

import ipaddress
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from memoryproject.process.tables import read_table

_FILE = read_table(__file__)
REFUSED_NETWORKS = tuple(map(ipaddress.ip_network, _FILE["refused"]))
NAT64 = tuple(ipaddress.ip_network(text) for text in ("64:ff9b::/96", "64:ff9b:1::/48"))
NOWHERE = {"invalid", "onion"}
"""Top-level names that no resolver may answer."""
LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
NAME_AT_MOST = 253
"""Characters of a host's name."""
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def is_refused(text: str) -> bool:
    """Return whether this IP address must not be called, in any notation.

    Raises:
        ValueError: it is no IP address.
    """
    return any(one in network for one in _unwrap(text) for network in REFUSED_NETWORKS)


def is_callable(text: str, private: Sequence[Network]) -> bool:
    """Return whether a webhook may be posted to this IP address.

    Public addresses may, and those in the `private` networks that the operator has named.

    Raises:
        ValueError: it is no IP address.
    """
    if is_refused(text):
        return False
    addresses = _unwrap(text)
    is_named = any(addresses[0] in network for network in private)
    return is_named or all(one.is_global for one in addresses)


def _unwrap(text: str) -> list[Address]:
    """Return an address, with the IPv4 addresses inside it."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    carried = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if any(address in network for network in NAT64) or int(address) >> 32 == 0:
        carried.append(last)
    return [address, *(one for one in carried if one is not None)]


def find_webhook_fault(url: str, private: Sequence[Network]) -> str | None:
    """Return what is wrong with a webhook's URL, or None.

    Names are not looked up here, but each time that a connection is made.
    """
    parts, fault = _split(url, example="https://example.com/memory")
    if fault:
        return fault
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "must hold no user, no password and no #"
    host = (parts.hostname or "").rstrip(".")
    literal = _read_literal(host)
    if literal is not None:
        return None if is_callable(literal, private) else "must not name a private address"
    if not _can_be_reached(host, private) or parts.port == 0:
        return "can never be reached: no such host or port exists"
    return None


def _can_be_reached(host: str, private: Sequence[Network]) -> bool:
    """Return whether a name may ever lead to a permitted address.

    False for names of an invalid form, with a number as last label, or reserved to lead nowhere
    (RFC 6761, 7686). `localhost` only leads to this machine.
    """
    try:
        labels = host.encode("idna").decode("ascii").lower().split(".")
    except UnicodeError:
        return False
    if not all(map(LABEL.fullmatch, labels)) or len(host) > NAME_AT_MOST or labels[-1].isdigit():
        return False
    if labels[-1] == "localhost":
        return any(is_callable(address, private) for address in ("127.0.0.1", "::1"))
    return labels[-1] not in NOWHERE


def find_fault(url: str) -> str | None:
    """Return what is wrong with a model's base URL, or None.

    Names are not looked up here, but each time that a connection is made.
    """
    parts, fault = _split(url, example="http://localhost:11434/v1")
    if fault:
        return fault
    if parts.username is not None or parts.password is not None:
        return "must hold no user and no password; OPENAI_API_KEY is sent as the key"
    if parts.query or parts.fragment:
        return "must end with its path, without ? and #"
    literal = _read_literal(parts.hostname or "")
    if literal is not None and is_refused(literal):
        return "must not name a link-local address, nor one at which a cloud tells its secrets"
    return None


def _split(url: str, *, example: str) -> tuple[SplitResult, str | None]:
    """Return the parts of a URL, and what is wrong with its form, or None."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return urlsplit(""), f"must be a URL such as {example}"
    if parts.scheme not in ("http", "https") or not host:
        return parts, "must start with http:// or https:// and name a host"
    return parts, None


def _read_literal(host: str) -> str | None:
    """Return the IP address in a URL that has one in place of a host name."""
    with suppress(ValueError):
        return str(ipaddress.ip_address(host.partition("%")[0]))
    # The ways in which C reads an IPv4 address: 2852039166, 0xA9FEA9FE, 0251.0376.43518.
    with suppress(OSError, ValueError):
        return socket.inet_ntoa(socket.inet_aton(host))
    return None
