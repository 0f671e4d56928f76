"""Okta: a simulator of its API, a sync of a tenant into a database file, and reports about the synced data."""
