"""What a receipt's page offers: its case, and the same question in the playground."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from console.playground import PERMISSION
from retrieval.models import Retrieval


def tell(request: HttpRequest, retrieval: Retrieval) -> dict[str, Any]:
    """Return the address at which the question is asked again, for who may ask."""
    if not request.user.has_perm(PERMISSION):
        return {"again": ""}
    parameters = retrieval.parameters
    is_context = retrieval.kind == Retrieval.Kind.CONTEXT
    asked = {
        "tenant": retrieval.tenant.name,
        "kind": "context" if is_context else "retrieve",
        "query": retrieval.query,
        **{
            name: parameters[name]
            for name in (
                "conversation_id", "category", "detail", "semantic_limit", "episodic_limit",
                "max_tokens", "as_of",
            )
            if parameters.get(name) is not None
        },
    }  # fmt: skip
    return {"again": f"{reverse('console:playground')}?{urlencode(asked)}"}
