"""The kind BackupSchedule."""
