"""The kind Ledger."""
