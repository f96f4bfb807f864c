"""Every call answers the same on a cluster as on one plain database."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jobs.reconciler import reconcile
from tests.emptying import delete_all_rows
from tests.reliability.conformance import call_all, list_differences
from tests.reliability.conftest import folder as folder
from tests.reliability.conftest import template as template
from tests.reliability.product import Product, installed

pytestmark = pytest.mark.cluster


@pytest.mark.django_db(transaction=True)
def test_the_reconciler_does_all_its_chores() -> None:
    assert reconcile() == 0


def test_a_cluster_changes_no_answer(template: Product, folder: Path) -> None:
    delete_all_rows()
    distributed = call_all(os.environ)
    delete_all_rows()
    with installed(template, folder) as product:
        product.start()
        plain = call_all(product.around())
    assert list_differences(plain, distributed) == []
