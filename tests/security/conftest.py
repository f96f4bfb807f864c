"""Installations to attack; see tests.reliability."""

from tests.llm.conftest import model as model
from tests.reliability.conftest import folder as folder
from tests.reliability.conftest import product as product
from tests.reliability.conftest import template as template
