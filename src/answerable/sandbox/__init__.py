"""Where code runs that nobody has read: one protocol, many backends, the same limits and the same account."""
