"""JSON Web Tokens of issuers outside: configuration, keys, claims and what becomes of them."""
