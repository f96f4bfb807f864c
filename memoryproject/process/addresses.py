"""Which addresses of a model's server are asked: none at which a cloud tells its secrets.

A server on this machine or in a private network is the usual case here, and allowed.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

REFUSED_NETWORKS = tuple(
    ipaddress.ip_network(text)
    for text in (
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "fe80::/10",
        "fd00:ec2::254/128",  # AWS
        "fd20:ce::254/128",  # Google
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure
        "192.0.0.192/32",  # Oracle
        "224.0.0.0/4",  # multicast
        "ff00::/8",
    )
)
NAT64 = tuple(ipaddress.ip_network(text) for text in ("64:ff9b::/96", "64:ff9b:1::/48"))
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_refused(text: str) -> bool:
    """Return whether nothing may be asked at this IP address, whichever way it is wrapped.

    Raises:
        ValueError: it is no IP address.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    return any(one in network for one in _unwrap(address) for network in REFUSED_NETWORKS)


def _unwrap(address: Address) -> list[Address]:
    """Return the address and the IPv4 addresses that it carries."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    carried = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if any(address in network for network in NAT64) or int(address) >> 32 == 0:
        carried.append(last)
    return [address, *(one for one in carried if one is not None)]


def find_fault(url: str) -> str | None:
    """Return what is wrong with a model's base URL, None where nothing is.

    Names are not looked up here, but each time that a connection is made.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "must be a URL such as http://localhost:11434/v1"
    if parts.scheme not in ("http", "https") or not host:
        return "must start with http:// or https:// and name a host"
    if parts.username is not None or parts.password is not None:
        return "must hold no user and no password; OPENAI_API_KEY is sent as the key"
    if parts.query or parts.fragment:
        return "must end with its path, without ? and #"
    if _is_refused_literal(host):
        return "must not name a link-local address, nor one at which a cloud tells its secrets"
    return None


def _is_refused_literal(host: str) -> bool:
    try:
        return is_refused(host)
    except ValueError:
        pass
    try:  # the ways in which C reads an IPv4 address: 2852039166, 0xA9FEA9FE, 0251.0376.43518
        return is_refused(socket.inet_ntoa(socket.inet_aton(host)))
    except (OSError, ValueError):
        return False
