"""The operator upgrades."""
