"""Ports of Pods and Services as links: pages that browsers open with the rights of a session, but without its cookie.

    link = PortLinks().create(session, LinkedPort("default", "pods", "web", 8080), "127.0.0.1")
    # "/dashboard/ports/…/": a path with a secret, which ends with the session

`endpoint.py` makes links, `forwarding.py` serves the requests below them. Threats: docs/security.md.
"""
