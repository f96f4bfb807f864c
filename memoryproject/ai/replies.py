"""What the forms of models' answers share: they keep what can be read, and never show the rest."""

from __future__ import annotations

import logging
from typing import Annotated, Any, TypeVar

import pydantic

logger = logging.getLogger("memory.ai")


class Reply(pydantic.BaseModel):
    """Base: unknown fields are passed over; errors never show the input."""

    model_config = pydantic.ConfigDict(extra="ignore", hide_input_in_errors=True)


def _keep_readable(rows: Any, read: pydantic.ValidatorFunctionWrapHandler) -> Any:
    if isinstance(rows, list):
        rows = [row for row in rows if _is_readable(row, read)]
    return read([] if rows is None else rows)


def _is_readable(row: Any, read: pydantic.ValidatorFunctionWrapHandler) -> bool:
    try:
        read([row])
    except pydantic.ValidationError:
        return False
    return True


Row = TypeVar("Row")
Rows = Annotated[list[Row], pydantic.WrapValidator(_keep_readable)]
"""A list of which one broken row does not spoil the others; for the fields of `Lists`."""


class Lists(Reply):
    """Base of a reply whose fields are all `Rows`: of no use where nothing in it can be read."""

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
