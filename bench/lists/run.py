"""Opens each list in each way that it offers, and prints what that took.

The pages are made in this process, by the whole of Django but no web server. The first
opening of each is left out: it loads templates, and pages of the disk.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import setup_test_environment
from django.urls import reverse
from tqdm import tqdm

from bench.lists import filling
from bench.retrieval.quantiles import summarise
from memoryproject.adminkit.base import ReadOnlyAdmin
from memoryproject.tenancy.models import Tenant

PERSON = "benchmark"
SLOW_MS = 300


@dataclass(frozen=True, slots=True)
class Page:
    """One address, and what it is about."""

    name: str
    address: str


def run(*, times: int, only: str) -> None:
    """Measure every page `times` times and print a table, the slowest first."""
    call_command("migrate", verbosity=0)
    filling.fill_audit()
    settings.WHITENOISE_AUTOREFRESH = True
    setup_test_environment(debug=False)  # so that an answer has its context
    browser = Client(SERVER_NAME="localhost")
    person, _ = User.objects.get_or_create(
        username=PERSON, defaults={"is_staff": True, "is_superuser": True}
    )
    browser.force_login(person)
    words = filling.choose_words()
    pages = [page for page in list_pages(browser, words) if only in page.name]
    rows = []
    for page in tqdm(pages, unit=" pages", desc="lists"):
        taken = [measure(browser, page) for _ in range(times + 1)][1:]
        rows.append((summarise([seconds for seconds, _ in taken]), taken[-1][1], page))
    rows.sort(key=lambda row: -row[0].p95)
    write = sys.stdout.write
    write("| page | p50 ms | p95 ms | queries |\n|---|---|---|---|\n")
    for quantiles, queries, page in rows:
        write(f"| {page.name} | {quantiles.p50:.0f} | {quantiles.p95:.0f} | {queries} |\n")
    slow = sum(quantiles.p50 > SLOW_MS for quantiles, _, _ in rows)
    write(f"\n{len(rows)} pages, {slow} of them above {SLOW_MS} ms.\n")


def measure(browser: Client, page: Page) -> tuple[float, int]:
    """Return how many seconds a page took and how many queries it made.

    Raises:
        RuntimeError: it could not be opened.
    """
    connection.force_debug_cursor = True
    connection.queries_log.clear()
    started = time.perf_counter()
    answer = browser.get(page.address)
    took = time.perf_counter() - started
    queries = len(connection.queries_log)
    connection.force_debug_cursor = False
    if answer.status_code != 200:
        raise RuntimeError(f"{page.address} answered {answer.status_code}")
    return took, queries


def list_pages(browser: Client, words: dict[str, str]) -> Iterator[Page]:
    """Yield each list plain, on its last page, by each of its filters, and searched."""
    for model, shown_by in admin.site._registry.items():
        if not isinstance(shown_by, ReadOnlyAdmin):
            continue
        label = f"{model._meta.app_label}.{model._meta.model_name}"
        address = reverse(f"admin:{label.replace('.', '_')}_changelist")
        yield Page(label, address)
        listed: ChangeList = browser.get(address).context["cl"]
        if listed.paginator.num_pages > 1:
            yield Page(f"{label}, last page", f"{address}?p={listed.paginator.num_pages}")
        for spec in listed.filter_specs:
            choices = [choice for choice in spec.choices(listed) if not choice.get("selected")]
            for choice in choices[-1:]:
                yield Page(f"{label} by {spec.title}", f"{address}{choice['query_string']}")
        if listed.search_fields:
            for kind, text in words.items():
                query = urlencode({"q": text})
                yield Page(f"{label}, {kind}", f"{address}?{query}")
    tenant = Tenant.objects.order_by("created_at")[0].name
    for kind, text in words.items():
        query = urlencode({"q": text, "tenant": tenant})
        yield Page(f"search, {kind}", f"{reverse('console:search')}?{query}")
        query = urlencode({"phrase": text, "tenant": tenant})
        yield Page(f"case file, {kind}", f"{reverse('console:case_file')}?{query}")
