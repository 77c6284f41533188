"""TLS of the server: serving certificates, their selection by server name, and client CAs, all with reload.

Read `serving.py` first, then `sni.py`. Certificates are made and verified in `server/pki/`. Handshakes are in
`server/connections/tls_acceptor.py`.
"""
