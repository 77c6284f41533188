"""HTTP/2: the requests and responses of `server/http.py`, many at a time on one connection."""
