"""Every call answers the same on a cluster as on one plain database."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.emptying import delete_all_rows
from tests.reliability.conformance import call_all, list_differences
from tests.reliability.conftest import folder as folder
from tests.reliability.conftest import template as template
from tests.reliability.product import Product, installed

pytestmark = pytest.mark.cluster


def test_a_cluster_changes_no_answer(template: Product, folder: Path) -> None:
    delete_all_rows()
    distributed = call_all(os.environ)
    delete_all_rows()
    with installed(template, folder) as product:
        product.start()
        plain = call_all(product.around())
    assert list_differences(plain, distributed) == []
