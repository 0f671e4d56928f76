"""Results of untrusted code become tables here, in a process of their own and never in the server."""
