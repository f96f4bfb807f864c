"""What each process needs: environment, logs, loading, progress, crash points."""
