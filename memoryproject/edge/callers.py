"""Where a request comes from, also behind proxies of ours."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

PORT = re.compile(r"^(?:\[(?P<six>[^\]]+)\](?::\d+)?|(?P<four>[\d.]+):\d+)$")
"""An address as some proxies write it: with the client's port."""
NEIGHBOURS_V6 = 64
"""Bits that one subscriber's addresses share; the rest are theirs to choose."""


def client_address(request: HttpRequest) -> str | None:
    """Return the address of who asks; None where there is none, as behind a local socket.

    That is who speaks to the outermost of MEMORY_TRUSTED_PROXIES proxies. Each adds the
    address that spoke to it at the end of X-Forwarded-For; what stands further ahead
    there, anybody may have written.
    """
    nearest = request.META.get("REMOTE_ADDR", "")
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    hops = [*(hop.strip() for hop in forwarded if hop.strip()), nearest]
    place = _parse(hops[max(len(hops) - 1 - settings.TRUSTED_PROXIES, 0)]) or _parse(nearest)
    return str(place) if place else None


def neighbourhood(address: str | None) -> str:
    """Return what counts as one place: an IPv4 address, or the network of an IPv6 address."""
    place = _parse(address or "")
    if isinstance(place, IPv6Address):
        return str(ip_network((place, NEIGHBOURS_V6), strict=False))
    return address or ""


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address without port and zone; one of IPv4 in the clothes of IPv6 as such."""
    written = PORT.match(text)
    try:
        place = ip_address(written["six"] or written["four"] if written else text)
    except ValueError:
        return None
    if isinstance(place, IPv4Address):
        return place
    return place.ipv4_mapped or IPv6Address(int(place))
