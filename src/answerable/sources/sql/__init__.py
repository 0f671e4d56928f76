"""The sources that are asked in SQL: one file for each kind, and what describes their data."""
