"""Extension API servers: a group version of one's own, whose objects are computed when somebody asks."""
