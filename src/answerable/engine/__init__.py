"""Runs a graph of steps durably and narrates it as events. `walk.py` is the loop, `run.py` the door."""
