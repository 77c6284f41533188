"""From the text of an expression to its syntax tree: tokens, parser, macros, and the tree itself.

Read `ast.py` first, then `parser.py`.
"""
