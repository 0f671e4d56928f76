"""The HTTP edge. It translates; everything it offers is done by the service."""
