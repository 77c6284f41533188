"""Authorization of requests: one authorizer per file. `UnionAuthorizer` (union.py) tries them in order."""
