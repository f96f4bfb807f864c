"""The admin looks and does not touch; strangers do not even look."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from semantic.models import Fact
from tests.admin.pages import READ_ONLY, newest, page
from tests.conftest import Agent

pytestmark = pytest.mark.django_db


def test_nothing_can_be_added_changed_or_deleted(auditor: Client, past: Agent) -> None:
    for model in READ_ONLY:
        row = newest(model)
        add, change = page(model, "add"), page(model, "change", row.pk)
        delete = page(model, "delete", row.pk)
        assert auditor.get(add).status_code == 403
        assert auditor.get(delete).status_code == 403
        for address in (add, change, delete):
            assert auditor.post(address, {"post": "yes"}).status_code == 403, address


def test_a_list_has_no_action_that_deletes(auditor: Client, past: Agent) -> None:
    chosen = {"action": "delete_selected", "_selected_action": str(newest(Fact).pk)}
    auditor.post(page(Fact, "changelist"), chosen)
    assert Fact.across_tenants.filter(pk=chosen["_selected_action"]).exists()
    assert "delete_selected" not in auditor.get(page(Fact, "changelist")).content.decode()


def test_an_anonymous_visitor_is_sent_to_the_login(past: Agent) -> None:
    visitor = Client(SERVER_NAME="localhost")
    for model in READ_ONLY:
        for address in (page(model, "changelist"), page(model, "change", newest(model).pk)):
            answer = visitor.get(address)
            assert answer.status_code == 302
            assert answer["Location"].startswith("/admin/login/")


def test_a_key_of_the_api_does_not_open_the_admin(past: Agent) -> None:
    assert past.client.get(page(Fact, "changelist")).status_code == 302


def test_a_member_of_staff_sees_only_the_tables_he_may_view(past: Agent) -> None:
    staff = User.objects.create_user("bo", password="a long enough one", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_fact"))
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(staff)
    seen = [m for m in READ_ONLY if browser.get(page(m, "changelist")).status_code == 200]
    assert seen == [Fact]
    menu = browser.get(page(Fact, "changelist")).content.decode()
    assert "/admin/semantic/fact/" in menu and "/admin/tenancy/apikey/" not in menu
