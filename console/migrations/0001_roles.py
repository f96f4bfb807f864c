"""Three roles for people: groups with what each may see and do."""

from typing import Any

from django.db import migrations

MEMORY = {
    "episodic": ["conversation", "episode", "message"],
    "semantic": ["evidence", "fact"],
}
AUDIT = {
    "episodic": ["reveal", "review"],
    "retrieval": ["retrieval", "retrievalhit"],
    "semantic": ["change", "changeset"],
}
WORK = {"ai": ["breaker"], "jobs": ["job", "llmcall"]}
OWNERS = {"tenancy": ["apikey", "tenant"]}
INDEX = {
    "indexing": [
        "memory", "searchunit", "searchvector", "shelfsize", "vectorindex", "wordcount",
    ],
}  # fmt: skip
LOOKS_AT = {
    "curator": [MEMORY, AUDIT, WORK, OWNERS, INDEX],
    "auditor": [MEMORY, AUDIT, WORK, OWNERS],
    "operator": [WORK, OWNERS],
}
MAY = {
    "curator": [
        ("semantic", "fact", "curate_fact", "Can correct, invalidate, restore and revert"),
        ("episodic", "message", "read_content", "Can read what was said"),
        ("retrieval", "retrieval", "run_playground", "Can run searches in the playground"),
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
    ],
}  # fmt: skip


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
        ("ai", "0001_breaker"),
        ("episodic", "0003_reveals"),
        ("indexing", "0011_word_counts_are_kept"),
        ("jobs", "0005_operating"),
        ("retrieval", "0004_playground"),
        ("semantic", "0003_curation"),
        ("tenancy", "0003_managing_keys"),
    ]
    operations = [migrations.RunPython(make_roles, remove_roles)]
