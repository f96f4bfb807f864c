"""The page that erases, and the rows of this app that are part of an erasure."""
