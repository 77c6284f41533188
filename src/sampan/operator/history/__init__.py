"""Last reconciles of objects: what triggered them, their results, and what they wrote. Bounded."""
