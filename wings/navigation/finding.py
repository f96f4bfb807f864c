"""Finds memories in a whole tenant, and by the links of what was found."""

from dataclasses import dataclass

from episodic.models import Conversation
from episodic.queries import find_conversation
from indexing.model_change import choose_embedder
from memoryproject.tenancy.models import Tenant
from retrieval.hits import Finding
from retrieval.search import in_tenant
from retrieval.search.in_conversation import Meaning, embed
from retrieval.search.in_tenant import CHARACTERS_READ, SearchRequest
from wings.navigation import links
from wings.navigation.links import Node

LINKED_AT_MOST = 500
"""Memories that links bring in, the nearest first: hubs have thousands of neighbours."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, in order. `total`: memories that match, returned or not.

    `nodes` are what links led to, also where it did not pass the filters. `degraded` names
    what was missing.
    """

    best: tuple[Finding, ...]
    total: int
    nodes: tuple[Node, ...] = ()
    embedding_model: str = ""
    degraded: str = ""

    @property
    def hops_used(self) -> int:
        """Return after how many steps links led to nothing new."""
        return max((node.depth for node in self.nodes), default=0)


def find_audience(tenant: Tenant, request: SearchRequest) -> Conversation | None:
    """Return where an answer counts as served: what is said of it there is no news."""
    external_id = request.asked_in or request.conversation_id
    return find_conversation(tenant=tenant, external_id=external_id) if external_id else None


def find(*, tenant: Tenant, request: SearchRequest) -> Findings:
    """Return the memories that answer a request, in its order: one embedding, one statement.

    With `max_hops` the links of what was found are followed in a second statement, and a
    third orders all of it together. Where the query cannot be embedded, words alone decide.
    """
    words = request.query[:CHARACTERS_READ]
    embedder = choose_embedder(tenant=tenant)
    meaning = Meaning() if request.is_everything else embed(words, embedder)
    return find_with(tenant=tenant, request=request, meaning=meaning)


def find_with(*, tenant: Tenant, request: SearchRequest, meaning: Meaning) -> Findings:
    """Do the same with a query that a model has embedded already."""
    findings, total = in_tenant.find_with(tenant=tenant, request=request, meaning=meaning)
    nodes: tuple[Node, ...] = ()
    if request.max_hops and findings:
        starts = [finding.memory_id for finding in findings]
        nodes = links.walk_from(
            tenant=tenant,
            starts=starts,
            depth=request.max_hops,
            at_most=LINKED_AT_MOST,
            link_types=request.link_types,
        ).nodes
        linked = {node.id: node.depth for node in nodes}
        findings, total = in_tenant.find_with(
            tenant=tenant, request=request, meaning=meaning, linked=linked
        )
    return Findings(
        best=tuple(findings),
        total=total,
        nodes=nodes,
        embedding_model=meaning.model,
        degraded=meaning.degraded,
    )
