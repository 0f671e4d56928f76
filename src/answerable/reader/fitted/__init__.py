"""The arithmetic of the fitted models, in plain Python.

In: feature vectors or n-grams. Out: scores and probabilities. Models are lists of numbers that `weights.py` reads from
a file; nothing here knows what the features mean.
"""
