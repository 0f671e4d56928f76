"""Language models of any provider behind one gateway.

What agents get: `Models.for_role(role, context)` in `gateway.py` gives a plain pydantic-ai `Model`; hand it to an
`Agent` and everything else happens inside: budgets are reserved before each call and settled after it, what may pass by
itself is tried again, a provider that fails is left alone for a while, the next model of the role takes over, time-outs
hold, usage and cost go to a listener (`calls.ModelCalled`), and failures arrive as errors of `core/errors.py`.

    model = models.for_role("coding", context, listener)
    with explained():                                        # failures.py: what the agent itself raises, too
        result = await Agent(model, output_type=Sql).run(prompt, usage_limits=UsageLimits(request_limit=8))

Settings are `config.py`, provider names and keys `names.py`, the clients `providers.py`. Importing this package or its
settings loads nothing of pydantic-ai.
"""
