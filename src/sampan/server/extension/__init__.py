"""Extension API servers: group versions whose objects are computed for each request."""
