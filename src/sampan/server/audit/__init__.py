"""Who did what, when, and what came of it: audit events by policy, for files and webhooks."""
