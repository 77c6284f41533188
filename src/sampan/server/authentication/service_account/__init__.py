"""Service account tokens: keys, issuing, validation, and discovery of the issuer."""
