"""Opens each page of the admin, each list in each way that it offers, and prints what that took.

The pages are made in this process, by the whole of Django but no web server. The first
opening of each is left out: it loads templates, and pages of the disk. On a machine that does other
things, too, the processors' time says what the clock would say on a quiet one.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import setup_test_environment
from django.urls import reverse
from tqdm import tqdm

from bench.lists import filling, pages
from bench.lists.pages import EVERYTHING, ROLES, Page
from bench.retrieval.quantiles import summarise
from memoryproject.adminkit.base import ReadOnlyAdmin
from memoryproject.tenancy.models import Tenant

SLOW_MS = 300


def run(*, times: int, only: str) -> None:
    """Measure every page `times` times and print a table, the slowest first."""
    call_command("migrate", verbosity=0)
    filling.fill_audit()
    settings.WHITENOISE_AUTOREFRESH = True
    setup_test_environment(debug=False)  # so that an answer has its context
    browsers = {role: log_in(role) for role in ROLES}
    words = filling.choose_words()
    browsers[EVERYTHING].get(reverse("admin:index"))
    gc.freeze()  # as the server does once it has loaded: memoryproject.process.loading
    rows = []
    for page in tqdm(list_pages(browsers[EVERYTHING], words), unit=" pages", desc="lists"):
        if only not in page.name:
            continue
        taken = [measure(browsers[page.role], page) for _ in range(times + 1)][1:]
        seconds, busy_seconds, queries = zip(*taken, strict=True)
        rows.append((summarise(seconds), summarise(busy_seconds), queries[-1], page))
    rows.sort(key=lambda row: -row[0].p95)
    write = sys.stdout.write
    write("| page | p50 ms | p95 ms | processors ms, p95 | queries |\n|---|---|---|---|---|\n")
    for clock, busy, asked, page in rows:
        write(f"| {page.name} | {clock.p50:.0f} | {clock.p95:.0f} | {busy.p95:.0f} | {asked} |\n")
    slow = sum(clock.p95 > SLOW_MS for clock, _, _, _ in rows)
    heavy = sum(busy.p95 > SLOW_MS for _, busy, _, _ in rows)
    write(f"\n{len(rows)} pages, {slow} above {SLOW_MS} ms, {heavy} of them by processor time.\n")


def log_in(role: str) -> Client:
    """Return the browser of a person who has a role; everything: of a superuser."""
    rights = {"is_staff": True, "is_superuser": role == EVERYTHING}
    person, _ = User.objects.get_or_create(username=f"benchmark {role}", defaults=rights)
    person.groups.set(Group.objects.filter(name=role))
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(person)
    return browser


def measure(browser: Client, page: Page) -> tuple[float, float, int]:
    """Return how many seconds a page took, on the clock and of processors, and its queries.

    Raises:
        RuntimeError: it could not be opened.
    """
    connection.force_debug_cursor = True
    connection.queries_log.clear()
    busy, started = read_busy(), time.perf_counter()
    answer = browser.get(page.address)
    took, busy = time.perf_counter() - started, read_busy() - busy
    queries = len(connection.queries_log)
    connection.force_debug_cursor = False
    if answer.status_code != 200:
        raise RuntimeError(f"{page.address} answered {answer.status_code}")
    return took, busy, queries


def read_busy() -> float:
    """Return the processor seconds so far, of this process and of its connection's."""
    connection.ensure_connection()
    stat = Path("/proc", str(connection.connection.info.backend_pid), "schedstat")
    return time.process_time() + int(stat.read_text().split()[0]) / 1e9


def list_pages(browser: Client, words: dict[str, str]) -> Iterator[Page]:
    """Yield the pages, then each list plain, on its last page, by each filter, and searched."""
    yield from pages.list_own_pages(words)
    tenant = Tenant.objects.order_by("created_at")[0].name
    for kind, text in words.items():
        query = urlencode({"q": text, "tenant": tenant})
        yield Page(f"search, {kind}", f"{reverse('console:search')}?{query}")
        query = urlencode({"phrase": text, "tenant": tenant})
        yield Page(f"case file, {kind}", f"{reverse('console:case_file')}?{query}")
        query = urlencode({"s": text, "extended": 1, "tenant": tenant})
        yield Page(f"palette, {kind}", f"{reverse('console:search')}?{query}")
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
