"""JSON Web Tokens of external issuers: configuration, keys, and the mapping of claims to users."""
