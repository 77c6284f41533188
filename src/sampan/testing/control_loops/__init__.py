"""Built-in control loops in a test: `sets.py` has their short names, `set_up.py` adds them to a manager."""
