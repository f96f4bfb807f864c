"""The page that tries memory out: say something, and watch what it becomes."""
