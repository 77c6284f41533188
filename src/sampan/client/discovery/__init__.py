"""Resources of a server: what it serves, and the resource for a name or a kind.

`discover.py` reads the documents of `documents.py`; `rest_mapper.py` finds resources in the result.
"""
