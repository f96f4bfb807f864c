"""The playground: ask as an agent would."""
