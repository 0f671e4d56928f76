"""Calls to the APIs that the operator configured, with the credential, the rules and the limits on the host's side."""
