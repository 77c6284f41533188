"""Common path of every object between a verb and the store.

It handles metadata, names, generation, finalizers, validation and the revision.
"""
