"""The certificate of an erasure, to print: who, why, how many, and what a search still finds."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone

from console.erasing.page import ERASE
from console.pages import page_for, show_page
from erasure import proof
from erasure.models import Erasure
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant

WORDS_AT_LEAST, WORDS_AT_MOST = 3, 200


def get_story(request: HttpRequest, erasure: Erasure) -> Mapping[str, Any]:
    """Return what stands above an erasure's columns."""
    return {"erased": name_counts(erasure)}


def name_counts(erasure: Erasure) -> list[tuple[str, int]]:
    """Return how many rows of each kind were deleted."""
    return [(kind.replace("_", " "), count) for kind, count in sorted(erasure.counts.items())]


@page_for("erasure.view_erasure")
def show_certificate(request: HttpRequest, erasure_id: uuid.UUID) -> HttpResponse:
    """Show the certificate; with `scan` all tables are searched for it, with words for these.

    Only who may erase may look for words: a hit says what is written somewhere.
    """
    erasure = get_object_or_404(Erasure.across_tenants, id=erasure_id)
    words = " ".join(request.POST.get("words", "").split())
    found, fault = None, ""
    if words and not request.user.has_perm(ERASE):
        fault, words = "You may not look for words.", ""
    elif words and not WORDS_AT_LEAST <= len(words) <= WORDS_AT_MOST:
        fault, words = f"Give {WORDS_AT_LEAST} to {WORDS_AT_MOST} characters.", ""
    try:
        if words or (erasure.target and "scan" in request.GET):
            found = proof.scan(erasure, words)
    except Problem as problem:
        fault = problem.message
    return show_page(
        request,
        "console/certificate.html",
        title="Certificate of erasure",
        status=400 if fault else 200,
        erasure=erasure,
        tenant=Tenant.objects.filter(id=erasure.tenant_id).first(),
        counts=name_counts(erasure),
        words=words,
        proof=found,
        fault=fault,
        at=timezone.now(),
        made_by=request.user.get_username() if isinstance(request.user, User) else "",
    )
