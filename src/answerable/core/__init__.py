"""The words that every other part uses. No I/O here."""
