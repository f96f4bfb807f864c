"""How the two legs and the passing of time make one order: the numbers, and who may set them.

The specification's numbers are the defaults. A tenant's settings may hold others under
`fusion`, and a call may bring its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

SETTING = "fusion"
"""The key in a tenant's settings."""
DEPTH_AT_MOST = 500
K_AT_MOST = 1000
WEIGHT_AT_MOST = 100.0


@dataclass(frozen=True, slots=True)
class Fusion:
    """The numbers of `score = (lexical_weight / (k + rank) + vector_weight / (k + rank)) * R`.

    `depth`: memories that each leg brings, at most. `floor`: R, the retrievability of an
    episode, counts as this much at least; 0.0 lets the forgotten sink, 1.0 ignores time.
    """

    k: int = 60
    depth: int = 100
    lexical_weight: float = 1.0
    vector_weight: float = 1.0
    floor: float = 0.0

    def changed(self, given: Mapping[str, Any] | None) -> Fusion:
        """Return these numbers with some replaced; unknown names are passed over."""
        known = {field.name for field in fields(self)}
        return replace(self, **{k: v for k, v in (given or {}).items() if k in known})

    def as_parameters(self) -> dict[str, float]:
        """Return the numbers by name."""
        return asdict(self)


DEFAULTS = Fusion()
"""The specification's."""
