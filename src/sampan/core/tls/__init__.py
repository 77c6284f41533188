"""TLS for servers and clients: certificates, trust anchors, cipher suites, and PEM files of users.

`certificates.py` creates certificates; `pem.py` and `trust.py` read those of users.
"""
