"""Numbers by which messages are ranked and a budget is filled, each with the figure that chose it.

LoCoMo: share of the evidence in 1,000 tokens; less than .015 is noise. What was rejected is in
docs/decisions/019-retrieval.md. Scores of messages are in deviations from the mean message.
"""

# Scores of messages: retrieval/search, retrieval/packing.py
MEANING_WEIGHT = 1.5
"""Weight of a message's vector similarity; its words have 1. LoCoMo .878; with 1 .870."""
HEADLINE_WEIGHT = 0.5
"""Weight of its episode's headline in a message's score. LoCoMo .870; with 1 .863, with 0 .869."""
JUDGED_LINES = 400
"""Number of messages compared token by token, in 3 to 4 ms.

Evidence of single-hop questions in the first 20 lines: .921; with 200 .899.
"""
LATE_WEIGHT = 2.0
"""Weight of the token score of a message. LoCoMo .870; without a token score .863."""
MEANING_BESIDE = 0.5
"""Weight of a message's vector similarity beside a token score. Chosen with LATE_WEIGHT."""
POINTING_FACTS = 40
"""Number of facts that raise the scores of their messages, served or not. No figure."""
POINTER_BONUS = 1.25
"""Bonus of a message behind the best fact; less for lower-ranked facts. LoCoMo + .010."""
POINTER_K = 9
"""Halves that bonus for the fact at rank 11, as such facts match the question less. No figure."""
SPEAKER_BONUS = 0.8
"""Bonus of a message whose speaker the question names. LoCoMo + .005."""
USER_PRIOR = 4.0
"""Bonus of a user's message beside an assistant's. BEAM .619 in 1,000 tokens; with 2 .605."""
OVER_PENALTY = 2.0
"""Penalty of a message whose facts are retired, so that replacements come first. No figure."""

# Times that the question names: retrieval/question.py, retrieval/packing.py
TIME_BONUS = 6.0
"""Bonus of a message of the days asked for. 85 questions that name one: .973; with 1.5 .949."""
UNLIKE_SHARE = 0.25
"""Share of a below-average score that counts on the days asked for: the date matters more.

No figure.
"""
FADES_IN_DAYS = 14
"""Days around in which the bonus fades: people mention an event later, and a plan before.

LoCoMo and a diary are the same with less for the days beside.
"""
FEW_DAYS, FEW_DAYS_SHARE = 7, 1.75
"""Length of a short span, and the factor of its bonus: who names a day or a week knows the time.

Most of a month or a year is about something else. No figure.
"""
TIMELY_RANK = 3.0
"""Factor by which a fact of the days asked for gains rank. No figure."""
ORDERED_WITHIN = 4.0
"""Distance from the best score within which "the first time" orders messages by time. No figure."""
ORDER_BONUS = 3.0
"""Bonus of the first message in that range; less for each later one. No figure."""

# Room for facts: retrieval/filling.py
FACT_SHARE = 0.3
"""Share of the budget for facts before the lines: the best ones, and more if a model writes them.

With a model's facts a shown one had the answer to 43 of 45 questions; with .06 to 1.
"""
BEST_FACTS = 2
"""Facts shown before any line; others of the same messages come with them.

With none, 49 of 100 updates showed the old value first. Five facts: LoCoMo .859, eight .853.
"""
PINNED_SHARE = 0.08
"""Share of the budget for guidelines and dangers that the question did not find. No figure."""
LEAST_PINNED_TOKENS = 60
"""Tokens for pinned facts in a small budget, a quarter at most: enough for one danger."""
CATEGORY_SHARE = 0.5
"""Share of the budget for facts when the caller asks for one category of them. No figure."""

# Room for messages: retrieval/filling.py, retrieval/recent.py
WHOLE_SHARE = 0.5
"""Share of the budget in which messages are shown whole except for filler.

LoCoMo .884, and the answer itself .748; with 0 .889 and .667, with .6 .884 and .751.
"""
REPLY_SHARE = 0.15
"""Share of the budget for an assistant's reply. BEAM .575, before .449; with .1 or .25 the same."""
LARGEST_SHARE = 0.5
"""Share of the budget for one message; a longer one is cut to its best match. No figure."""
LARGE_TOKENS = 200
"""Tokens that a single message may use in any budget that has room for them. No figure."""
LEAST_LEFT_SHARE = 0.3
"""Share of a shortened message that must fit; with less room it is left out. No figure."""
LEAST_ROOM = 4
"""Tokens of the shortest possible line."""
LEAST_CUT_TOKENS = 12
"""Tokens of a message below which a shortened one is useless. No figure."""
RECENT_SHARE = 0.5
"""Share of the budget for messages in no episode yet, if the call asks for them. No figure."""
UNASKED_SHARE = 0.3
"""Share for the same messages if it does not. No figure."""

# What is left out of a message: retrieval/truncation.py
KEPT_SHARE = 0.6
"""Share of its worth that a shortened message keeps. Chosen with WHOLE_SHARE."""
FILLER_SHARE = 0.05
"""A sentence is filler when each of its words is in more of the messages than this.

LoCoMo .883, before .879; with .03 or .1 within .005.
"""
ASKED_SHARE = 0.25
"""A word of the question that is in more of the messages says nothing. No figure."""
ANSWERING_SHARE = 0.5
"""Share of the best sentence's worth to the question; one below it does not answer. No figure."""
