"""Questions in people's own words: a question that no form explains in full becomes a request, the request proposals,
and each proposal is weighed by how well it explains the words that were said.

In: a linked question whose words are also linked by meaning. Out: plans, the likeliest first, each with its weight.
"""
