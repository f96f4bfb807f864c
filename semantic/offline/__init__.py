"""The consolidator that needs no language model. Only the choice of engine imports it."""
