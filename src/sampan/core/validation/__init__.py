"""Rules of names and metadata that all objects share.

Read `names.py` first: the formats of names. `metadata.py` applies them to `metadata`; `domains.py` and `values.py` have
the rules of other fields.
"""
