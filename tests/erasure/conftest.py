"""A scripted language model, as `tests.llm` has it."""

from tests.llm.conftest import model

__all__ = ["model"]
