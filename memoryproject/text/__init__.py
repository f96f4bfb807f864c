"""Plain text: sentences, words, dates. Knows no domain, no database and no network."""
