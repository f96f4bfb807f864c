"""What every import of a file says of itself: what became of its records, and what was left out."""

import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from memoryproject.edge.json_files import Watch, ignore
from memoryproject.tenancy.models import Tenant
from semantic.curation import Act
from semantic.models import Changeset


@dataclass(slots=True)
class FileImport:
    """An import of a file into a tenant, and what became, or would become, of its records.

    With no act it only says what an import would do. `report` gets numbers of records. `counts`
    by kind and fate; `lost` counts the fields that we have no place for; `homes` are the first
    conversations, by the source's name of them; `owners` counts new records by whose they are,
    such as ("user", "alice"); nobody's under "". `faults` name the first elements of the file
    that were left out, and say why. `watch` gets the bytes that are read.
    """

    tenant: Tenant
    path: Path
    source: str
    act: Act | None
    report: Callable[[int], object]
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    owners: Counter[tuple[str, str]] = field(default_factory=Counter)
    homes: dict[str, uuid.UUID] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    watch: Watch = ignore
    changeset: Changeset | None = None

    def run(self) -> None:
        """Import the file.

        A run that was broken off leaves a changeset of what it has written; the next one goes on.

        Raises:
            OSError, Problem: the file cannot be read, or is none of the source's.
            OverQuota: the tenant may not store so much; what came before is written.
        """
        raise NotImplementedError
