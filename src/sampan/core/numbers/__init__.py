"""Numbers in objects and requests: integers of any length, quantities, percentages, and resourceVersions.

Read `integers.py` first: it is the one parser of decimal numbers from clients. `quantity.py` has the amounts of
resources.
"""
