"""Joining a cluster: verify the API server with a bootstrap token, obtain a client certificate, and renew it.

1. `discovery.py` reads the cluster's CA from a server that cannot be verified yet, and then verifies both.
2. `certificate.py` requests a certificate for `system:node:<name>` with the token.
3. `credentials.py` stores it with a kubeconfig; `rotation.py` renews it, with the certificate itself.
4. `serving.py` gets the certificate of the node's server, and renews it.
"""
