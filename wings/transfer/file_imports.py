"""Result of a file import: what was done with its records, and what was left out."""

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
    """An import of a file into a tenant, and the outcome, or a dry run's, for its records.

    Without an act it is a dry run. `report` gets numbers of records. `counts` by kind and outcome;
    `lost` counts the fields that we cannot store; `homes` are the first conversations, by the
    source's names; `owners` counts new records by owner, such as ("user", "alice"), or "". `faults`
    name the first elements that were left out, and why. `watch` gets the bytes that are read.
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

        An interrupted run leaves a changeset of what it has written; the next one continues.

        Raises:
            OSError, Problem: the file cannot be read, or is not of this source.
            OverQuota: the tenant's quota is exceeded; earlier records are written.
        """
        raise NotImplementedError
