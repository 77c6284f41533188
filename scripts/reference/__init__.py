"""The API reference in docs/reference: one Markdown page for each public package, from the docstrings.

`python -m scripts.reference` writes the pages, and `make reference` runs it. The source is read, never imported.
"""
