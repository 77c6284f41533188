"""Programs of the test assets. They run without the packages of this environment, so that they start in milliseconds.

They import built-in modules only: `socket`, `os` and `signal` would double their start.
"""
