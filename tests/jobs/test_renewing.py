"""A living holder keeps its job, a hung or killed one does not."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from jobs import claims, renewing, turns
from jobs.claims import LeaseLost
from jobs.enqueue import enqueue
from jobs.models import Job, Kind
from tests.conftest import Agent
from tests.fresh import ana as ana

pytestmark = pytest.mark.django_db(transaction=True)


def claim_one(agent: Agent, holder: uuid.UUID | None = None) -> claims.Claim:
    job = enqueue(tenant=agent.tenant, kind=Kind.REVIEW, scope=uuid.uuid4())
    claim = claims.claim(job.id, holder=holder)
    assert claim is not None
    Job.objects.of(agent.tenant).filter(id=job.id).update(lease_until=Now())
    return claim


def can_be_taken(claim: claims.Claim) -> bool:
    return Job.across_tenants.filter(turns.may_be_claimed(), id=claim.id).exists()


def test_the_lease_of_a_job_at_work_is_put_off(ana: Agent) -> None:
    claim = claim_one(ana)
    with renewing.renewing(claim, every_s=0.05):
        until = _wait_for_renewal(claim)
    assert until and not can_be_taken(claim)


def _wait_for_renewal(claim: claims.Claim) -> bool:
    for _ in range(100):
        if not can_be_taken(claim):
            return True
        time.sleep(0.05)
    return False


def test_a_worker_that_hangs_does_not_hold_its_job_for_ever(ana: Agent) -> None:
    claim = claim_one(ana)
    with renewing.renewing(claim, every_s=0.01, at_most_s=0.0):
        time.sleep(0.2)
        assert can_be_taken(claim)


def test_nobody_renews_a_lease_that_another_has_taken(ana: Agent) -> None:
    claim = claim_one(ana)
    taken = claims.claim(claim.id)
    assert taken is not None
    assert claims.renew(claim) is False and claims.renew(taken) is True
    with pytest.raises(LeaseLost), claims.commit(claim):
        pass


def test_a_supervisor_lets_go_of_what_its_dead_workers_held_and_of_nothing_else(
    ana: Agent,
) -> None:
    def claim_for(cluster: uuid.UUID) -> claims.Claim:
        return claim_one(ana, holder=cluster)

    mine, others = uuid.uuid4(), uuid.uuid4()
    held = [claim_for(cluster) for cluster in (mine, others)]
    assert all(claims.renew(claim) for claim in held)
    assert claims.let_go(mine) == 1
    assert [can_be_taken(claim) for claim in held] == [True, False]


def test_a_lease_outlives_three_failed_renewals() -> None:
    assert timedelta(seconds=3 * renewing.EVERY_S) < claims.LEASE
