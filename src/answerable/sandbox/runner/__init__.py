"""Runs one piece of code inside a sandbox: the half of the contract that lives with the code.

These files import nothing of Answerable but each other, so that they can be handed to a container as text. Whoever
starts `execute` gives it a `Channel` to the host. It guarantees nothing about safety: the code shares its process and
may say anything over the channel, so the host counts, checks and bounds again whatever it hears.

What the code sees: the frames as polars data frames, the values, the host functions, and polars as `pl`; `__name__` is
`"__main__"`. What it leaves in `result`, or else the value of its last line, is its result:

    a polars frame, lazy frame or series; a pandas or arrow table     rows, written as an Arrow stream
    a list of dictionaries with the same keys, where rows are wanted  rows too
    numbers, text, dates, lists, dictionaries of these; numpy         a value that JSON can hold
    nothing (also when `result` was never set)                        nothing

What the host hears, as dictionaries:

    {"ready": true}                                    over streams only: the code begins now
    {"print": text}                                    as it is printed, line by line
    {"call": name, "args": [...], "kwargs": {...}}     to be answered by {"return": value} or {"raise": sentence}
    {"done": {"outcome", "reason", "message", "value", "frame", "cpu_ms", "peak_mb"}}   last; `frame`: rows were written
"""
