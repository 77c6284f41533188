"""Forms of stored objects in responses: JSON, YAML, protobuf, Table and PartialObjectMetadata.

Read `respond.py` first: one object in the form that the client accepts. Lists are joined from pieces and cached
(`pieces.py`, `bodies.py`); rows of tables and protobuf messages are cached by record (`tables.py`, `messages.py`).
"""
