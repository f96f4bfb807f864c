"""One browser for each role, and for who has none."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.console.visitors import SUPERUSER, visit_as


@pytest.fixture
def curator(db: None) -> Client:
    return visit_as("curator")


@pytest.fixture
def auditor(db: None) -> Client:
    return visit_as("auditor")


@pytest.fixture
def operator(db: None) -> Client:
    return visit_as("operator")


@pytest.fixture
def boss(db: None) -> Client:
    """Return the browser of a superuser."""
    return visit_as(SUPERUSER)


@pytest.fixture
def nobody(db: None) -> Client:
    """Return the browser of a member of staff whom nobody has given a role."""
    return visit_as("")


@pytest.fixture
def visitor() -> Client:
    """Return the browser of somebody who has not logged in."""
    return Client(SERVER_NAME="localhost")
