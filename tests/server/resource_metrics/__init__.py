"""Resource metrics that the API server serves itself."""
