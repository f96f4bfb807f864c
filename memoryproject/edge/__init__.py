"""The HTTP interface: requests, answers, errors, pages of lists, and the API description."""
