"""HTTP in and out: requests, answers, errors, pages of lists, and their description."""
