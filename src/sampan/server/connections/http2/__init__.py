"""HTTP/2: the requests and responses of `server/connections/http1.py`, many at a time on one connection."""
