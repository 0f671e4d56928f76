"""What a question says about time.

In: the text of a question and today's date. Out: a list of `DateSpan`, one for each phrase such as "last quarter",
"since March", "per month" or "than in 2023", with the days that it covers.
"""
