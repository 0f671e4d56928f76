"""How people prove who they are: passwords, sessions, tokens of identity providers. See docs/identity.md."""
