"""The page that erases, and the rows of this app that an erasure deletes."""
