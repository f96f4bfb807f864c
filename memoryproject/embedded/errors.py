class EmbeddedPostgresError(Exception):
    """The embedded server cannot be used; the message is one sentence that says what to do."""
