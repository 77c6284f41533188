"""`sampan get`, `apply`, `describe`, `delete`, `wait`, `api-resources`: kubectl's commands for machines without it.

The server prints the tables and merges applied objects.
"""
