"""Regular expressions in Go's syntax, matched in time linear in the text.

`engine` uses RE2. Where the package google-re2 is absent, because it has no wheel for the platform (musl), it uses the
matcher in `fallback`.
"""
