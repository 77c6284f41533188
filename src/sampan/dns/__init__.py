"""A DNS server for the names of a cluster: `sampan dns`.

A query takes this path: `server.py` receives it, `message.py` parses it, `resolver.py` chooses the source of the
answer. `zone.py` answers names of the cluster from the caches in `objects.py`; `forwarder.py` sends other questions to
upstreams.
"""
