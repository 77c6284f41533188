"""May they? One authorizer per file; `UnionAuthorizer` (union.py) asks them in turn."""
