"""Graphs: nodes and relationships, asked in Cypher."""
