"""Vectors as PostgreSQL reads them."""

import pgvector


class HalfVector(pgvector.HalfVector):
    """A vector of 16-bit floats, written with five digits each, which tell them apart."""

    def to_text(self) -> str:
        numbers = tuple(self.to_list())
        return f"[{','.join(['%.5g'] * len(numbers))}]" % numbers
