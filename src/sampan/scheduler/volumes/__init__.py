"""Claims, volumes and classes, as far as they restrict where a Pod can run."""
