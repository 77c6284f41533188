"""Which certificates are trusted, at every place that verifies one."""
