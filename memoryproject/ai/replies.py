"""Base classes of models' answers: valid parts are kept, and errors never show the rest."""

from __future__ import annotations

import logging
from typing import Annotated, Any, TypeVar

import pydantic

logger = logging.getLogger("memory.ai")


class Reply(pydantic.BaseModel):
    """Base: unknown fields are ignored; errors never show the input."""

    model_config = pydantic.ConfigDict(extra="ignore", hide_input_in_errors=True)


Row = TypeVar("Row")
Rows = Annotated[
    list[pydantic.OnErrorOmit[Row]],
    pydantic.BeforeValidator(lambda rows: [] if rows is None else rows),
]
"""A list in which a broken row does not invalidate the others; for the fields of `Lists`."""


class Lists(Reply):
    """Base of a reply whose fields are all `Rows`: invalid if none of them can be read."""

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _has_rows(cls, answer: Any, read: pydantic.ModelWrapValidatorHandler[Lists]) -> Lists:
        reply = read(answer)
        lists = [answer[name] or [] for name in cls.model_fields if name in answer]
        if not lists:
            raise ValueError("none of the lists is there")
        count = sum(map(len, lists))
        left_out = count - sum(len(getattr(reply, name)) for name in cls.model_fields)
        if count and left_out == count:
            raise ValueError("no row has the asked-for form")
        if left_out:
            logger.warning("rows of a model's answer left out: %d", left_out)
        return reply
