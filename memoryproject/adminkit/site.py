"""The admin's title and its menu, which `menu.toml` lists."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy

from memoryproject.process.release import VERSION
from memoryproject.process.tables import read_table

MENU = read_table(__file__, "menu")

TABLES: dict[str, dict[str, str]] = {
    entry["table"]: entry
    for group in MENU["groups"]
    for entry in group["entries"]
    if "table" in entry
}
"""The entries of lists, by table."""


def add_version(request: HttpRequest) -> dict[str, str]:
    """Return the version of the server, which stands at the foot of each page."""
    return {"server_version": VERSION}


def _entry(
    *, title: str, icon: str, page: str = "", permission: str = "", table: str = "", about: str = ""
) -> dict[str, Any]:
    """Return an entry of the menu, for those with its permission."""
    if table:
        app, model = table.split(".")
        page, permission = f"admin:{app}_{model}_changelist", f"{app}.view_{model}"

    def may_see(request: HttpRequest) -> bool:
        return not permission or request.user.has_perm(permission)

    return {"title": title, "icon": icon, "link": reverse_lazy(page), "permission": may_see}


def _list_account_links(request: HttpRequest) -> list[dict[str, Any]]:
    """Return what the menu of a person leads to; who comes from a provider has no password."""
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
        "navigation": [
            {
                "title": group["title"],
                "items": [_entry(**entry) for entry in group["entries"]],
                "collapsible": group["folds"],
            }
            for group in MENU["groups"]
        ],
    },
}
