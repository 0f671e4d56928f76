"""Which candidate is meant, and how sure that is.

In: candidates and the scene they were made for. Out: a feature vector for each candidate, the order in which readings
are offered, the confidence of the best one, and whether its plan does something about every cue of the question.
"""
