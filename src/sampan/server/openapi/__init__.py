"""OpenAPI v2 and v3: the documents in which clients read what the server accepts."""
