"""Commands that became options of others still do the same under their old names."""

from __future__ import annotations

import pytest
from django.core.management import get_commands, load_command_class

from memoryproject.process.old_commands import translate


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("drain_jobs", "worker --drain"),
        ("list_keys --tenant acme", "keys --tenant acme"),
        ("rotate_key mem_12 --grace-hours 1", "keys --rotate mem_12 --grace-hours 1"),
        ("revoke_key mem_12", "keys --revoke mem_12"),
        ("set_rate --key mem_12 60", "keys mem_12 --rate 60"),
        ("set_rate --tenant acme 60", "tenant acme --calls 60"),
        ("set_rate --tenant acme --bytes 60", "tenant acme --sent-bytes 60"),
        ("set_quota acme --bytes 5 --rows 6", "tenant acme --stored-bytes 5 --stored-rows 6"),
        ("set_budget acme 2.50", "tenant acme --budget 2.50"),
        ("set_scope acme user", "tenant acme --scope user"),
        ("accept_pepper", "migrate --accept-pepper"),
        ("import_facts f.csv --tenant acme", "import_from facts f.csv --tenant acme"),
        ("worker", "worker"),
    ],
)
def test_an_old_name_is_written_anew_and_said(
    old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert translate(old.split()) == new.split()
    assert capsys.readouterr().err == (
        "" if old == new else f"{old.split()[0]} is now: manage.py {new}\n"
    )
    name, *given = new.split()
    command = load_command_class(get_commands()[name], name)
    command.create_parser("manage.py", name).parse_args(given)  # else it exits
