"""From a checked syntax tree to closures. Read `compiler.py` first; `code.py` is the result."""
