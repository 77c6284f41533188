"""The one path that every object takes between a verb and the store: metadata, names, generation, finalizers,
validation, revision.
"""
