"""The text search languages that the index knows.

The list is part of the SQL function `memory_ts`: a new language needs a migration.
"""

SIMPLE = "simple"
"""No stemming, no stop words: right for mixed and unknown languages."""

LANGUAGES = tuple(
    "arabic armenian basque catalan danish dutch english finnish french german greek hindi"
    " hungarian indonesian irish italian lithuanian nepali norwegian portuguese romanian russian"
    " serbian simple spanish swedish tamil turkish yiddish".split()
)
