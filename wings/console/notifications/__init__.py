"""Notifications of people: the bell, the list, and the schedule of mail."""
