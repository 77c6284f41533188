"""Connections of clients: the listening socket, TLS handshakes, HTTP/1.1 and HTTP/2, limits and graceful shutdown.

Read `listener.py` first: `HttpServer` accepts connections. Then follow a request: `tls_acceptor.py` (handshake),
`http1.py` or `http2/` (protocol), `receiver.py` (received data), `owner.py` (the call of the handler),
`response_heads.py`. Responses that clients do not read are counted in `unread.py`. The limits are
in `settings.py` and `limited_reads.py`.
"""
