"""Who asks? One authenticator per file; `Authentication` (union.py) asks them in turn."""
