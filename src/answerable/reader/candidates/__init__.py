"""Candidate queries.

In: a `Scene` and the fitted models for roles and shapes. Out: at most 60 candidates, each a `Draft` with the evidence
that it rests on. `roles` says how likely each column, value and number takes which part in the query, `shape` which
clauses the query has; options for each clause are combined and varied.
"""
