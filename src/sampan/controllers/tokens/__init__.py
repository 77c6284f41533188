"""Controllers of tokens in Secrets: bootstrap tokens, and service account tokens of older kinds."""
