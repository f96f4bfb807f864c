"""The facts of a person by the sections of a profile, and the profiles that agents get."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from episodic.revealing import Reader
from memoryproject.tenancy.models import Tenant
from retrieval.markdown import NO_FENCE
from retrieval.profile import Profile, ProfileRequest, draft_profile, of_user
from retrieval.profile_lines import EPISODES, HEADINGS, find_section
from semantic.models import Fact
from wings.console.facts.use import set_use

PROFILES_AT_MOST = 5
FACT_SECTIONS = tuple(name for name in HEADINGS if name != EPISODES)


def list_attributes(facts: Sequence[Fact]) -> dict[str, list[Any]]:
    """Return facts by the heading of their section, active ones first, in the order given.

    `earlier` of a fact has the facts that it replaced; they stand nowhere else.
    """
    set_use(facts)
    by_id: dict[Any, Any] = {fact.id: fact for fact in facts}
    for fact in by_id.values():
        fact.earlier = []
    sections: dict[str, list[Any]] = {section: [] for section in FACT_SECTIONS}
    for fact in sorted(by_id.values(), key=lambda fact: fact.invalid_at is not None):
        heir = fact
        for _ in facts:  # chains are short, and this ends even if one were a circle
            heir = by_id.get(heir.superseded_by_id, heir)
        place = sections[find_section(fact)] if heir is fact else heir.earlier
        place.append(fact)
    return {HEADINGS[section].strip("# \n"): rows for section, rows in sections.items() if rows}


def draft_profiles(
    tenant: Tenant, user_ids: Sequence[str], reader: Reader
) -> list[tuple[str, Profile]]:
    """Return the profile of each user id as `GET users/{id}/profile` has it, without a receipt.

    Titles of episodes quote messages: who may not read all of them sees the facts alone.
    """
    request = ProfileRequest(sections=tuple(HEADINGS) if reader.reads_all else FACT_SECTIONS)
    now = timezone.now()
    return [
        (user_id, draft_profile(tenant, of_user(tenant, user_id), request, NO_FENCE, now=now))
        for user_id in user_ids[:PROFILES_AT_MOST]
    ]
