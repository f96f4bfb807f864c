"""Build an approximate vector index for a large conversation, a user or a tenant.

Build a partial HNSW index over the vectors of one conversation, of all conversations of a user, or
of a whole tenant, and print its recall against an exact scan. This pays off above some 30,000
vectors: below, the exact scan is as fast. Each row written to that scope then takes 2 ms more.
Reads and writes continue meanwhile.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from indexing import approximate
from indexing.models import MemoryKind, SearchVector, VectorIndex
from indexing.owners import scope_of
from memoryproject.ai import embeddings
from memoryproject.tenancy.management.naming import find_tenant
from memoryproject.tenancy.models import Tenant


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tenant", help="name of the tenant")
        where = parser.add_mutually_exclusive_group()
        where.add_argument(
            "--conversation", type=uuid.UUID, help="the agent's id; absent: the whole tenant"
        )
        where.add_argument(
            "--user", default="", help="the agent's id of a user, for the user's scope"
        )
        parser.add_argument("--shelf", choices=MemoryKind.values, default=MemoryKind.FACT.value)
        parser.add_argument("--drop", action="store_true", help="remove the index instead")
        parser.add_argument(
            "--least-recall",
            type=float,
            default=0.9,
            help="least recall of the nearest 100 (default 0.9); an index below it is removed",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        index = self._plan(options)
        if options["drop"]:
            approximate.drop(index)
            self.stdout.write("Removed: searches scan exactly again.")
            return
        rows = approximate.count_vectors(index)
        if rows < approximate.NEIGHBOURS:
            raise CommandError(f"{rows} vectors are too few for an index.")
        with tqdm(total=rows, unit=" vectors", unit_scale=True) as bar:
            approximate.build(index, report=_show_on(bar))
            bar.update(rows - bar.n)
        self._judge(index, rows=rows, least_recall=options["least_recall"])

    def _plan(self, options: dict[str, Any]) -> VectorIndex:
        tenant = find_tenant(options["tenant"])
        embedder = embeddings.get_embedder()
        return approximate.plan_index(
            tenant=tenant,
            conversation_id=_find_conversation(tenant, options["conversation"]),
            user_scope=scope_of(tenant.id, options["user"]),
            shelf=MemoryKind(options["shelf"]),
            model=embedder.name,
            dim=embedder.dim,
        )

    def _judge(self, index: VectorIndex, *, rows: int, least_recall: float) -> None:
        trial = approximate.try_out(index)
        self.stdout.write(
            f"{rows} vectors: recall@100 {trial.recall:.3f}, "
            f"{trial.approximate_ms:.1f} ms instead of {trial.exact_ms:.1f} ms."
        )
        if trial.recall < least_recall:
            approximate.drop(index)
            raise CommandError(f"A recall below {least_recall} is too little: removed again.")
        index.recall = trial.recall
        index.save(force_insert=True)
        self.stdout.write("Searches use it from now on.")


def _find_conversation(tenant: Tenant, external_id: uuid.UUID | None) -> uuid.UUID | None:
    if external_id is None:
        return None
    vectors = SearchVector.objects.of(tenant).filter(conversation__external_id=external_id)
    ids = vectors.values_list("conversation_id", flat=True)[:1]
    if not ids:
        raise CommandError("That conversation has no vectors.")
    return ids[0]


def _show_on(bar: tqdm[Any]) -> approximate.Report:
    def show(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)

    return show
