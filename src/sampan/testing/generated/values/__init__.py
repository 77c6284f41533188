"""Values of the nodes of a schema, made from choices.

Read `schema_values.py` first; the other modules make values of one sort: formats, patterns, selectors, fields with a
known meaning.
"""
