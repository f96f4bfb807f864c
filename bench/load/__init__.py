"""How much one hostile tenant slows the others down: a mixed load in three phases."""
