"""The admin's title and its menu from `menu.toml`."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse, reverse_lazy

from memoryproject.process.release import VERSION
from memoryproject.process.tables import read_table

MENU = read_table(__file__, "menu")
HOME = "admin:index"

TABLES: dict[str, dict[str, Any]] = {
    entry["table"]: entry
    for place in MENU["places"]
    for entry in place["entries"]
    if "table" in entry
}
"""The menu entries of lists, by table."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A page that the menu leads to, and the permission that it takes; empty: none."""

    title: str
    icon: str
    page: str
    permission: str
    is_internal: bool

    @property
    def address(self) -> str:
        """The address of the page; empty if it belongs to a wing that is left out."""
        try:
            return reverse(self.page)
        except NoReverseMatch:
            return ""

    def is_for(self, user: Any) -> bool:
        """Return whether somebody is shown it; only superusers are shown internal entries."""
        if not self.address or (self.is_internal and not user.is_superuser):
            return False
        return not self.permission or user.has_perm(self.permission)

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
    """Return a page of the menu, or the page with a form that makes a row of a list."""
    page, permission = entry.get("page", ""), entry.get("permission", "")
    if "table" in entry:
        app, model = entry["table"].split(".")
        page, permission = f"admin:{app}_{model}_changelist", f"{app}.view_{model}"
    return Entry(
        entry["title"], entry.get("icon", "add"), page, permission, entry.get("internal", False)
    )


PLACES = [
    Place(place["title"], place["icon"], tuple(map(_read_entry, place["entries"])))
    for place in MENU["places"]
]
MAKERS = {name: _read_entry(entry["make"]) for name, entry in TABLES.items() if "make" in entry}
"""The pages with a form that makes a row, by table."""


def describe_frame(request: HttpRequest) -> dict[str, Any]:
    """Return what stands around each page: the tabs of its place, and the server's version."""

    def find_place() -> dict[str, Any] | None:
        for place in PLACES:
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
        "navigation": [{"items": [place.in_sidebar() for place in PLACES]}],
    },
}
