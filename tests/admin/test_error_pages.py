"""Pages that say that something did not work, each under its policy."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.console.visitors import visit_as

pytestmark = pytest.mark.django_db
STYLE = "console/error.css"


def test_an_address_that_is_not_there_is_styled_outside_of_the_admin_too() -> None:
    answer = Client(SERVER_NAME="localhost").get("/nowhere")
    assert answer.status_code == 404 and STYLE in answer.content.decode()
    assert "style-src 'self'" in answer["Content-Security-Policy"]
    assert "script-src" not in answer["Content-Security-Policy"]
    assert (
        "style-src"
        not in Client(SERVER_NAME="localhost").get("/api/v0/nowhere")["Content-Security-Policy"]
    )


def test_a_form_without_its_token_is_refused_in_our_words() -> None:
    browser = Client(SERVER_NAME="localhost", enforce_csrf_checks=True)
    answer = browser.post(reverse("admin:login"), {"username": "x"})
    text = answer.content.decode()
    assert answer.status_code == 403 and STYLE in text and "The form was not sent" in text


def test_a_list_is_titled_by_what_it_lists() -> None:
    answer = visit_as("curator").get(reverse("admin:episodic_withholding_changelist"))
    assert answer.context["title"] == "Quarantined sources"
    assert "Select " not in answer.content.decode()
