"""Namespace controller: empties a namespace that is being deleted. Read `controller.py` first."""
