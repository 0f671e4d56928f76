"""Attacks in requests: each part of a request is read as an attacker would have it read, and what it shows is added
up."""
