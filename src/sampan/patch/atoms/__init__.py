"""Atoms: operations on the values of one schema node, for merges and field ownership.

Read `atom.py` first, then the atoms of lists and maps; `atom_schema.py` builds them from a schema.
"""
