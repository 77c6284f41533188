"""Addresses outside this program: URLs that are parsed as Go parses them, and connections to hosts that objects name.

`url.py` checks a URL before it is used; `dial.py` decides which addresses a server may connect to.
"""
