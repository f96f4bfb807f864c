"""A storm of kill -9, database crashes and model faults, and an oracle over what is left."""
