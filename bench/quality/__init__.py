"""How good the answers and the offline engine's heads are, on labelled data."""
