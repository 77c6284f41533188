"""The operator ledgers."""
