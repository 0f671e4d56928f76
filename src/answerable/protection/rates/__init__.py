"""Rate limits: how many requests somebody may send in a sliding window."""
