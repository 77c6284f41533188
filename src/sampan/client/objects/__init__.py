"""Objects as a client sees them: decoded, as a page of a list, reduced to their metadata, or read from manifests."""
