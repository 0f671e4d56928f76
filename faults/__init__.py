"""Harm done to real servers under load, and what is left afterwards: `python -m faults`, or `make faults`."""
