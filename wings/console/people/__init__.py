"""The admin's page of a person, and who is the same person."""
