"""How good the answers, facts and episode boundaries are, on labelled data."""
