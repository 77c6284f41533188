"""HTTP/2: the same requests and answers as `server/http.py`, many at a time on one connection."""
