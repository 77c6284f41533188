"""One file per verb: what a request for a resource does."""
