"""Seams of the store that stand for themselves, each with what it stores. Runs and threads are in `base.py`."""
