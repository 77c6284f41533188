"""`sampan test`: servers for tests, in any language."""
