"""OpenAPI documents: read safely, and turned into a catalog of the endpoints that can be asked."""
