"""Controllers of volumes and claims with one module each: protection, ephemeral volumes, expansion."""
