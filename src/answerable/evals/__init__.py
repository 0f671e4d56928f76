"""Measuring answers: cases with known rows, a comparison of rows, and a score."""
