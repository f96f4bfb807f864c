"""Finds memories in a whole tenant, and memories linked with them."""

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
"""Number of memories added by links, nearest first: hubs have thousands of neighbors."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The results, in order. `total`: number of matching memories, returned or not.

    `nodes` are the memories reached by links, even if they do not match the filters. `degraded`
    names what was missing.
    """

    best: tuple[Finding, ...]
    total: int
    nodes: tuple[Node, ...] = ()
    embedding_model: str = ""
    degraded: str = ""

    @property
    def hops_used(self) -> int:
        """Return after how many steps links led to no new memory."""
        return max((node.depth for node in self.nodes), default=0)


def find_audience(tenant: Tenant, request: SearchRequest) -> Conversation | None:
    """Return the conversation that an answer counts as served to."""
    external_id = request.asked_in or request.conversation_id
    return find_conversation(tenant=tenant, external_id=external_id) if external_id else None


def find(*, tenant: Tenant, request: SearchRequest) -> Findings:
    """Return the memories that match a request, in its order: one embedding, one statement.

    With `max_hops` a second statement follows links of the results, and a third orders everything.
    If the query cannot be embedded, only words are searched.
    """
    words = request.query[:CHARACTERS_READ]
    embedder = choose_embedder(tenant=tenant)
    meaning = Meaning() if request.is_everything else embed(words, embedder)
    return find_with(tenant=tenant, request=request, meaning=meaning)


def find_with(*, tenant: Tenant, request: SearchRequest, meaning: Meaning) -> Findings:
    """As `find`, with an embedded query."""
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
