"""`sampan get`, `apply`, `describe`, `delete`, `wait`, `api-resources`: kubectl's words, for machines without it.

Thin by design: the server prints the tables and merges what is applied.
"""
