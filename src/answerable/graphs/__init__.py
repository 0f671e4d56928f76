"""Graphs that users draw: read from YAML or JSON, checked, and compiled to graphs of the engine."""
