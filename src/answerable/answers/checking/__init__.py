"""Checks of an answer before it is shown: what its prose claims against the rows, and one result against another."""
