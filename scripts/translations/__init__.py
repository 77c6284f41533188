"""Translated pages: each has the revision of its source in its front matter, so that stale pages can be named."""
