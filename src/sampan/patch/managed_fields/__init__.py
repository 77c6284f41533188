"""Field ownership: `metadata.managedFields`, and server-side apply.

Read `field_manager.py` first; it uses the entries, the conflicts and the pruning of the other modules.
"""
