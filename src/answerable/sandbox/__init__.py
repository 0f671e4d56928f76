"""Where code runs that nobody has read: one protocol, several backends, the same limits and the same account."""
