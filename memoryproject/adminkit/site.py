"""The admin's title and its menu."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy


def _entry(title: str, icon: str, name: str, permission: str) -> dict[str, Any]:
    """Return an entry of the menu, for those with a permission."""

    def may_see(request: HttpRequest) -> bool:
        return request.user.has_perm(permission)

    return {"title": title, "icon": icon, "link": reverse_lazy(name), "permission": may_see}


def _item(title: str, icon: str, table: str) -> dict[str, Any]:
    """Return an entry for the list of `app.model`, for those who may see it."""
    app, model = table.split(".")
    return _entry(title, icon, f"admin:{app}_{model}_changelist", f"{app}.view_{model}")


def _page(title: str, icon: str, name: str, permission: str) -> dict[str, Any]:
    """Return an entry for a page of `console`."""
    return _entry(title, icon, f"console:{name}", permission)


def _group(title: str, *items: dict[str, Any], folds: bool = False) -> dict[str, Any]:
    return {"title": title, "items": list(items), "collapsible": folds}


def _list_account_links(request: HttpRequest) -> list[dict[str, Any]]:
    """Return what the menu of a person leads to; who comes from a provider has no password."""
    own = [("Signing in", "mfa_index"), ("Notifications", "console:notifications")]
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
    "DASHBOARD_CALLBACK": "console.home.page.get_story",
    "SIDEBAR": {
        "show_search": False,
        "show_all_applications": False,
        "navigation": [
            _group(
                "",
                {"title": "Home", "icon": "home", "link": reverse_lazy("admin:index")},
                _page("Search", "search", "search", "episodic.view_message"),
                _page("Case file", "contract", "case_file", "retrieval.view_retrieval"),
            ),
            _group(
                "Memory",
                _item("Conversations", "forum", "episodic.conversation"),
                _item("Facts", "lightbulb", "semantic.fact"),
                _item("Episodes", "history", "episodic.episode"),
                _item("Notes", "sticky_note_2", "notes.note"),
                _item("People", "groups", "people.person"),
                _page("Review queue", "inbox", "review_queue", "semantic.view_suggestion"),
                _page("Playground", "science", "playground", "retrieval.run_playground"),
            ),
            _group(
                "Operation",
                _item("Jobs", "work_history", "jobs.job"),
                _item("API keys", "key", "tenancy.apikey"),
                _item("Tenants", "apartment", "tenancy.tenant"),
            ),
            _group(
                "More of memory",
                _item("Messages", "chat_bubble", "episodic.message"),
                _item("Links", "link", "notes.link"),
                _page("Roll back a source", "undo", "roll_back", "semantic.curate_fact"),
                _page("Export", "download", "export", "semantic.view_fact"),
                _page("Import", "upload", "import", "semantic.curate_fact"),
                folds=True,
            ),
            _group(
                "Audit",
                _item("Retrievals", "receipt_long", "retrieval.retrieval"),
                _item("Contexts", "stacks", "retrieval.context"),
                _item("Changesets", "difference", "semantic.changeset"),
                _page("Compare two moments", "compare", "compare", "semantic.view_changeset"),
                _item("Suggestions", "rule", "semantic.suggestion"),
                _item("Correction marks", "flag", "semantic.correctionmark"),
                _item("Memory tests", "fact_check", "retrieval.memorytest"),
                _item("Reviews", "grading", "episodic.review"),
                _item("Unmask log", "visibility", "episodic.reveal"),
                _item("Quarantined sources", "block", "episodic.withholding"),
                _item("Erasures", "delete_forever", "erasure.erasure"),
                _item("Retention policies", "auto_delete", "erasure.retentionpolicy"),
                _item("Legal holds", "gavel", "erasure.hold"),
                _item("Erased keys", "key_off", "episodic.erasedkey"),
                _item("Exports", "file_save", "console.exportrun"),
                _item("Imports", "upload_file", "console.importrun"),
                folds=True,
            ),
            _group(
                "More of operation",
                _item("Usage of keys", "monitoring", "tenancy.keyusage"),
                _item("Model calls", "smart_toy", "jobs.llmcall"),
                _item("Circuit breakers", "electric_bolt", "ai.breaker"),
                _item("Webhooks", "webhook", "events.webhook"),
                _item("Deliveries", "outgoing_mail", "events.event"),
                folds=True,
            ),
            _group(
                "Search index",
                _item("Memories", "hub", "indexing.memory"),
                _item("Search units", "manage_search", "indexing.searchunit"),
                _item("Search vectors", "scatter_plot", "indexing.searchvector"),
                _item("Sizes by kind", "straighten", "indexing.shelfsize"),
                _item("Word counts", "numbers", "indexing.wordcount"),
                _item("Vector indexes", "bolt", "indexing.vectorindex"),
                folds=True,
            ),
            _group(
                "People",
                _item("Users", "person", "auth.user"),
                _item("Groups", "group", "auth.group"),
                _item("Logins", "login", "axes.accesslog"),
                _item("Failed logins", "lock_clock", "axes.accessattempt"),
                folds=True,
            ),
        ],
    },
}
