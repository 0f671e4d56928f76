"""Durable state: SQLite by default, PostgreSQL by URL, one schema, small protocols."""
