"""Authentication of requests: one authenticator per file. `UnionAuthenticator` (union.py) tries them in order."""
