"""What was understood, in English.

In: a question and a query plan for it. Out: one sentence made from the plan, the part of the plan that each phrase of
the question became, and what each stage of reading found.
"""
