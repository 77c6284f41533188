"""The kind Backup."""
