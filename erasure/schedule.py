"""Applies retention policies in time: a chore of the reconciler."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from erasure import services
from erasure.models import Erasure, RetentionPolicy, Scope, State
from erasure.retention import find_due
from jobs.flows import register_chore

EVERY = timedelta(hours=1)
POLICIES_AT_ONCE = 5
ACTOR = "retention policy"


def register() -> None:
    """Have the reconciler look at policies."""
    register_chore(apply_policies)


def apply_policies(*, at_most: int) -> None:
    """Start an erasure for each policy that was not looked at for an hour and has something due."""
    running = Erasure.across_tenants.filter(
        tenant=OuterRef("tenant"), scope=Scope.RETENTION, target=OuterRef("pk"), state=State.RUNNING
    )
    stale = Q(looked_at=None) | Q(looked_at__lt=Now() - EVERY)
    policies = RetentionPolicy.across_tenants.filter(stale, ~Exists(running))
    for policy in policies.select_related("tenant").order_by("id")[
        : min(at_most, POLICIES_AT_ONCE)
    ]:
        RetentionPolicy.objects.of(policy.tenant).filter(id=policy.id).update(looked_at=Now())
        if find_due(policy).exists():
            erasure = Erasure(tenant=policy.tenant, scope=Scope.RETENTION, target=policy.id)
            services.ask(erasure, actor=ACTOR, reason=f"Policy: {policy}.")
