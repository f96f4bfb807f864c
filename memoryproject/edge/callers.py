"""Finds the client of a request, also behind our own proxies."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

PORT = re.compile(r"^(?:\[(?P<six>[^\]]+)\](?::\d+)?|(?P<four>[\d.]+):\d+)$")
"""An address with the client's port, as some proxies write it."""
NEIGHBOURS_V6 = 64
"""Bits that are common to one subscriber's addresses; the rest are theirs to choose."""


def client_address(request: HttpRequest) -> str | None:
    """Return the client's address; None if there is none, as behind a local socket.

    That is the client of the outermost of MEMORY_TRUSTED_PROXIES proxies. Each proxy appends its
    client's address to X-Forwarded-For; anybody may have written the entries before.
    """
    nearest = request.META.get("REMOTE_ADDR", "")
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    hops = [*(hop.strip() for hop in forwarded if hop.strip()), nearest]
    place = _parse(hops[max(len(hops) - 1 - settings.TRUSTED_PROXIES, 0)]) or _parse(nearest)
    return str(place) if place else None


def neighbourhood(address: str | None) -> str:
    """Return the unit that limits apply to: an IPv4 address, or an IPv6 network."""
    place = _parse(address or "")
    if isinstance(place, IPv6Address):
        return str(ip_network((place, NEIGHBOURS_V6), strict=False))
    return address or ""


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address without port and zone; an IPv4 address inside IPv6 is unpacked."""
    written = PORT.match(text)
    try:
        place = ip_address(written["six"] or written["four"] if written else text)
    except ValueError:
        return None
    if isinstance(place, IPv4Address):
        return place
    return place.ipv4_mapped or IPv6Address(int(place))
