"""Rows that are loaded for a tenant know it, without asking the database again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Agent
from wings.notes.models import Note

pytestmark = pytest.mark.django_db


def test_a_row_knows_the_tenant_for_whom_it_was_loaded(
    ana: Agent, cleo: Agent, django_assert_num_queries: Any
) -> None:
    assert ana.post("notes", {"content": "Ana likes tulips."}).status_code == 201
    with django_assert_num_queries(1):
        (note,) = Note.objects.of(ana.tenant)
        assert note.tenant is ana.tenant
    assert not Note.objects.of(cleo.tenant).exists()
