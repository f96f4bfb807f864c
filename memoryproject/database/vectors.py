"""Vectors as PostgreSQL reads them."""

import pgvector


class HalfVector(pgvector.HalfVector):
    """Numbers of two bytes, written with the five digits that tell them apart: in half the text."""

    def to_text(self) -> str:
        numbers = tuple(self.to_list())
        return f"[{','.join(['%.5g'] * len(numbers))}]" % numbers
