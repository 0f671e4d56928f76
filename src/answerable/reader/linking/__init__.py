"""Schema linking and value matching.

In: the text of a question, the catalog of a source and a lookup of its values. Out: a `Scene`, which holds the tokens,
the phrases that may name a table, column, measure or value, the cue words (how many, each, at least, not), and the
clause that each token stands in. Words that match nothing are reported by `unknown_words`.
"""
