"""Claims, volumes and classes, as far as they decide where a Pod can be."""
