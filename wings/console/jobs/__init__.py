"""Pages and actions of jobs and model calls."""
