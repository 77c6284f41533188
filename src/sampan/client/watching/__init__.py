"""Lists and watches, from bytes to typed events.

Read `list_watch.py` first: the interface. `resource_list_watch.py` implements it over HTTP, with `raw_list.py` and
`event_lines.py`. `pager.py` reads long lists. `follow.py` joins watches to one endless stream, and `watch.py` decodes
its events.
"""
