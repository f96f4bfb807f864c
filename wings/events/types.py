"""The types of events: those of this wing, and those that all wings declare."""

from functools import cache

from memoryproject.wings import EventType, Notice, list_wings

CHANGESET, CURATES = "admin:semantic_changeset_change", "semantic.curate_fact"

EPISODE_CREATED = EventType("episode.created", "an episode was made")
FACT_ADDED = EventType("fact.added", "a fact became active")
FACT_RETIRED = EventType(
    "fact.retired",
    "a fact is not active any more",
    Notice("Many facts were retired within an hour", CURATES, CHANGESET, "changeset_id"),
)
FACT_RESTORED = EventType("fact.restored", "a retired fact is active again")
FACT_CORRECTED = EventType(
    "fact.corrected",
    "a fact that answers had served was taken back",
    Notice(
        "A fact was retired after it was served", "semantic.view_fact", CHANGESET, "changeset_id"
    ),
)
REVIEW_REQUESTED = EventType("review.requested", "something waits in the review queue")
BUDGET_SPENT = EventType("budget.spent", "work waits because the day's budget is spent")
JOB_DEAD = EventType(
    "job.dead",
    "a job failed so often that it is not tried again",
    Notice("A job is dead", "jobs.operate_job", "admin:jobs_job_change", "job_id"),
)
BUDGET_NEAR = EventType(
    "budget.near",
    "80 % of the day's budget is spent",
    Notice("80 % of the day's budget is spent", "tenancy.set_budget", "console:budget"),
)
OWN = (
    EPISODE_CREATED, FACT_ADDED, FACT_RETIRED, FACT_RESTORED, FACT_CORRECTED, REVIEW_REQUESTED,
    BUDGET_SPENT, JOB_DEAD, BUDGET_NEAR,
)  # fmt: skip


@cache
def find_types() -> dict[str, EventType]:
    """Return the types of events of all wings, by code."""
    return {type.code: type for wing in list_wings() for type in wing.events}


@cache
def find_notices() -> dict[str, Notice]:
    """Return the notifications of people, by the code of the event's type."""
    return {code: type.notice for code, type in find_types().items() if type.notice}


def list_choices() -> list[tuple[str, str]]:
    return [(type.code, type.meaning) for type in find_types().values()]
