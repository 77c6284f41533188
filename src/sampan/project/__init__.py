"""Projects of operators: their first files, their parts, a server to try them, and upgrades of what was written."""
