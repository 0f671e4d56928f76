"""The host's side of the `kernel` sandbox: what its processes may see, how they are started, watched and ended."""
