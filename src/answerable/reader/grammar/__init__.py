"""Forms of questions that are read word for word.

In: a `Scene`, the dates found in it and, for a follow-up, the plan of the question before. Out: a query plan together
with the words that it uses, or None. A form answers only if it accounts for every content word of the question;
otherwise the question is left to the fitted candidates. That makes its readings few and nearly always right.
"""
