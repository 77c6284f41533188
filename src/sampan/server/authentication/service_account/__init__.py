"""Tokens of service accounts: keys, issue, validation, discovery of the issuer."""
