"""From tables and expressions to a `QueryPlan`.

In: the schema, and either a `Draft` (a candidate while it is being built) or expressions. Out: a query plan whose
tables are joined by the cheapest tree of relationships; `NoPath` is raised if there is none.
"""
