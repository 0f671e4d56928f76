"""Copies a tenant of Okta into a database file, which is a source like any other."""
