"""Text functions: sentences, words, dates. Independent of the domain, database and network."""
