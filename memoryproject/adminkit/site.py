"""The admin's title and its menu, from `menu.toml` and the wings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse, reverse_lazy

from memoryproject.process.release import VERSION
from memoryproject.process.tables import read_table
from memoryproject.wings import read_files

HOME = "admin:index"


@dataclass(frozen=True, slots=True)
class Entry:
    """A page that the menu leads to: the list of a `table`, `app.model`, or a `page`.

    The list is for those who may see the table; a page takes a permission, or none.
    """

    title: str
    icon: str = "add"
    table: str = ""
    about: str = ""
    """What the list says above its rows."""
    make: Entry | None = None
    """The page with a form that makes a row of the list."""
    page: str = ""
    permission: str = ""
    internal: bool = False
    """Whether it is a tab for superusers alone; others come there by search or address."""
    position: int = -1
    """Index at which a wing puts it into its place; without one it comes last."""

    @property
    def address(self) -> str:
        """The address of the page; empty if it belongs to a wing that is left out."""
        page = self.page or f"admin:{self.table.replace('.', '_')}_changelist"
        try:
            return reverse(page)
        except NoReverseMatch:
            return ""

    def is_for(self, user: Any) -> bool:
        """Return whether a person sees the entry; only superusers see internal entries."""
        if not self.address or (self.internal and not user.is_superuser):
            return False
        permission = self.permission or self.table.replace(".", ".view_")
        return not permission or user.has_perm(permission)

    def holds(self, path: str) -> bool:
        """Return whether an address is the page or below it; Home is above all others."""
        address = self.address
        if self.page == HOME:
            return path == address
        return bool(address) and path.startswith(address)


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the sidebar, and the pages that are its tabs."""

    title: str
    icon: str
    entries: tuple[Entry, ...]

    def list_open(self, request: HttpRequest) -> list[Entry]:
        """Return the entries that the person may open."""
        return [entry for entry in self.entries if entry.is_for(request.user)]

    def in_sidebar(self) -> dict[str, Any]:
        """Return the place as the theme's sidebar takes it."""
        return {
            "title": self.title,
            "icon": self.icon,
            "link": lambda request: next((one.address for one in self.list_open(request)), ""),
            "permission": lambda request: any(one.is_for(request.user) for one in self.entries),
            "active": lambda request: any(one.holds(request.path) for one in self.entries),
        }


def _read_entry(entry: dict[str, Any]) -> Entry:
    make = Entry(**entry["make"]) if "make" in entry else None
    return Entry(**{**entry, "make": make})


@cache
def list_places() -> tuple[Place, ...]:
    """Return the places of `menu.toml` in their order, with the entries of the wings."""
    wings, places = list(read_files("menu.toml")), []
    for place in read_table(__file__, "menu")["places"]:
        entries = [_read_entry(entry) for entry in place["entries"]]
        for entry in chain.from_iterable(wing.get(place["title"], ()) for wing in wings):
            entries.insert(entry.get("position", len(entries)), _read_entry(entry))
        places.append(Place(place["title"], place["icon"], tuple(entries)))
    return tuple(places)


@cache
def find_lists() -> dict[str, Entry]:
    """Return the entries of lists, by table."""
    entries = chain.from_iterable(place.entries for place in list_places())
    return {entry.table: entry for entry in entries if entry.table}


def describe_frame(request: HttpRequest) -> dict[str, Any]:
    """Return what stands around each page: the tabs of its place, and the server's version."""

    def find_place() -> dict[str, Any] | None:
        for place in list_places():
            tabs = place.list_open(request)
            holding = [entry for entry in tabs if entry.holds(request.path)]
            if holding:
                here = max(holding, key=lambda entry: len(entry.address))
                return {"title": place.title, "tabs": tabs, "here": here}
        return None

    return {"server_version": VERSION, "find_place": find_place}


def _list_account_links(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the links in a person's menu; provider accounts have no password here."""
    own = [
        ("Tour", "console:tour"),
        ("Signing in", "mfa_index"),
        ("Notifications", "console:notifications"),
    ]
    if request.user.is_authenticated and request.user.has_usable_password():
        own.insert(0, ("Change password", "admin:password_change"))
    return [{"title": title, "link": reverse_lazy(name)} for title, name in own]


UNFOLD = {
    "SITE_TITLE": "Memory server",
    "SITE_HEADER": "Memory server",
    "SITE_SYMBOL": "neurology",
    "SITE_URL": None,
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda request: static("console/favicon.svg"),
        }
    ],
    "SHOW_HISTORY": False,
    "ACCOUNT": {"navigation": _list_account_links},
    "STYLES": [
        lambda request, name=name: static(f"console/{name}.css")
        for name in ("console", "facts/facts", "jobs/jobs", "notes/notes")
    ],
    "SCRIPTS": [lambda request: static("console/console.js")],
    "DASHBOARD_CALLBACK": "wings.console.home.page.get_story",
    "SIDEBAR": {
        "show_search": False,
        "show_all_applications": False,
        "navigation": lambda request: [{"items": [place.in_sidebar() for place in list_places()]}],
    },
}
