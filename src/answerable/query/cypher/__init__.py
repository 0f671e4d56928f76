"""Cypher that only reads: parsed into typed trees, checked against the catalog, and written again from the tree."""
