"""Checks of an answer before it is shown: each number in its prose against the rows, and one result against another."""
