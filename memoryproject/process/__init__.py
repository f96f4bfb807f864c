"""Parts of every process: environment, logs, loading, progress, crash points."""
