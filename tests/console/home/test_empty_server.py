"""On a server that nobody has used yet, pages say how to begin."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("name", "asked"), [("console:search", {"q": "anything"}), ("console:playground", {})]
)
def test_without_a_tenant_it_says_how_to_make_one(
    curator: Client, name: str, asked: dict[str, str]
) -> None:
    page = curator.get(reverse(name), asked)
    assert page.status_code == 200 and "create_api_key" in page.content.decode()
