"""The admin's title and its menu from `menu.toml`."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse_lazy

from memoryproject.process.release import VERSION
from memoryproject.process.tables import read_table

MENU = read_table(__file__, "menu")

TABLES: dict[str, dict[str, str]] = {
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
    link: Any
    permission: str
    is_internal: bool

    def is_for(self, user: Any) -> bool:
        """Return whether somebody is shown it; what is internal only superusers are."""
        if not self.is_there() or (self.is_internal and not user.is_superuser):
            return False
        return not self.permission or user.has_perm(self.permission)

    def is_there(self) -> bool:
        """Return whether the page exists; that of a wing that is left out does not."""
        try:
            return bool(str(self.link))
        except NoReverseMatch:
            return False

    def holds(self, path: str) -> bool:
        """Return whether an address is the page or below it; Home is above all others."""
        link = str(self.link) if self.is_there() else ""
        return path == link or (link not in {"", str(HOME)} and path.startswith(link))


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the sidebar, and the pages that stand as tabs there."""

    title: str
    icon: str
    entries: tuple[Entry, ...]

    def list_tabs(self, request: HttpRequest) -> list[dict[str, Any]]:
        """Return the pages that the person may open, the one at hand marked."""
        open_to = [entry for entry in self.entries if entry.is_for(request.user)]
        at = max(
            (entry for entry in open_to if entry.holds(request.path)),
            key=lambda entry: len(str(entry.link)),
            default=None,
        )
        return [
            {"title": entry.title, "link": entry.link, "is_here": entry is at} for entry in open_to
        ]

    def in_sidebar(self) -> dict[str, Any]:
        """Return the place as the theme's sidebar takes it."""

        def link(request: HttpRequest) -> str:
            tabs = self.list_tabs(request)
            return str(tabs[0]["link"]) if tabs else ""

        return {
            "title": self.title,
            "icon": self.icon,
            "link": link,
            "permission": lambda request: bool(self.list_tabs(request)),
            "active": lambda request: any(entry.holds(request.path) for entry in self.entries),
        }


def _read_entry(entry: dict[str, Any]) -> Entry:
    page, permission = entry.get("page", ""), entry.get("permission", "")
    if "table" in entry:
        app, model = entry["table"].split(".")
        page, permission = f"admin:{app}_{model}_changelist", f"{app}.view_{model}"
    is_internal = entry.get("internal", False)
    return Entry(entry["title"], entry["icon"], reverse_lazy(page), permission, is_internal)


HOME = reverse_lazy("admin:index")
PLACES = [
    Place(place["title"], place["icon"], tuple(map(_read_entry, place["entries"])))
    for place in MENU["places"]
]


def describe_frame(request: HttpRequest) -> dict[str, Any]:
    """Return what stands around each page: the tabs of its place, and the server's version."""

    def find_place() -> dict[str, Any] | None:
        for place in PLACES:
            tabs = place.list_tabs(request)
            if any(tab["is_here"] for tab in tabs):
                return {"title": place.title, "tabs": tabs}
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
