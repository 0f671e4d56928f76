"""The `monty` sandbox: a small language that looks like Python, in an interpreter that reaches nothing."""
