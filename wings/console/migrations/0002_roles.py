"""Three roles for people: groups with what each may see and do."""

from typing import Any

from django.db import migrations

MEMORY = {
    "episodic": ["conversation", "episode", "message", "reveal", "review", "withholding"],
    "semantic": [
        "change", "changeset", "correctionmark", "evidence", "fact", "suggestion", "triage",
    ],
    "notes": ["link", "note", "noteversion"],
    "retrieval": ["context", "contextsection", "memorytest", "retrieval", "retrievalhit"],
    "people": ["alias", "merge", "person"],
    "console": ["exportrun", "importrun"],
    "erasure": ["erasure", "hold", "retentionpolicy"],
}  # fmt: skip
WORK = {
    "ai": ["breaker"],
    "jobs": ["job", "llmcall"],
    "tenancy": ["apikey", "keyusage", "tenant"],
}
INDEX = {
    "indexing": [
        "memory", "searchunit", "searchvector", "shelfsize", "vectorindex", "wordcount",
    ],
}  # fmt: skip
LOOKS_AT = {
    "curator": [MEMORY, WORK, INDEX],
    "auditor": [MEMORY, WORK, {"console": ["pageread"]}],
    "operator": [WORK, {"events": ["event", "webhook"]}],
}
SAVES = ("console", "savedfilter", "add_savedfilter", "Can add saved filter")
MAY = {
    "curator": [
        ("semantic", "fact", "curate_fact", "Can correct, invalidate, restore and revert"),
        ("episodic", "message", "read_content", "Can read what was said"),
        ("retrieval", "retrieval", "run_playground", "Can run searches in the playground"),
        ("notes", "note", "curate_note", "Can change and delete notes, draw and remove links"),
        SAVES,
    ],
    "auditor": [
        (
            "episodic", "message", "reveal_content",
            "Can have a conversation shown, which is recorded",
        ),
    ],
    "operator": [
        ("jobs", "job", "operate_job", "Can retry and cancel"),
        ("tenancy", "apikey", "manage_apikey", "Can make and revoke keys"),
        ("tenancy", "tenant", "set_budget", "Can set what a day may cost"),
        ("events", "event", "redeliver_event", "Can have events delivered again"),
        SAVES,
    ],
}  # fmt: skip
"""Erasing is a permission that no role brings; auditors only look, and save no searches."""


def make_roles(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    for role, tables in LOOKS_AT.items():
        wanted = [
            (app, model, f"view_{model}", f"Can view {words_for(apps, app, model)}")
            for table in tables
            for app, models in table.items()
            for model in models
        ]
        groups = apps.get_model("auth", "Group").objects.using(using)
        group, _ = groups.get_or_create(name=role)
        group.permissions.add(*[permission(apps, using, *one) for one in [*wanted, *MAY[role]]])


def words_for(apps: Any, app: str, model: str) -> str:
    """Return what Django calls a model in the permissions that it makes itself."""
    return str(apps.get_model(app, model)._meta.verbose_name_raw)


def permission(apps: Any, using: str, app: str, model: str, codename: str, name: str) -> Any:
    """Return a permission; Django makes those of an app only after all migrations."""
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label=app, model=model)
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    found, _ = permissions.get_or_create(
        content_type=kind, codename=codename, defaults={"name": name}
    )
    return found


def remove_roles(apps: Any, schema_editor: Any) -> None:
    groups = apps.get_model("auth", "Group").objects.using(schema_editor.connection.alias)
    groups.filter(name__in=LOOKS_AT).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("ai", "0001_initial"),
        ("console", "0001_initial"),
        ("erasure", "0001_initial"),
        ("events", "0001_initial"),
        ("notes", "0001_initial"),
        ("people", "0001_initial"),
        ("retrieval", "0001_initial"),
    ]
    operations = [migrations.RunPython(make_roles, remove_roles)]
