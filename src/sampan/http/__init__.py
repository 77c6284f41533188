"""HTTP/1.1 below the API: `client/` for requests, `server/` for small endpoints of operators and nodes.

The API server has another implementation for many connections, `sampan/server/connections/`. Tunnels (`tunnel.py`) and
profiles of a process (`pprof/`) belong to both halves.
"""
