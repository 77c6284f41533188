"""`Session`: a login of the dashboard at a server process, for measurements outside of a page."""

import http.client
import json
import ssl
from dataclasses import dataclass

from benchmarks.connection import Target


@dataclass(frozen=True, slots=True)
class Session:
    """A session of the page: the name and the value of its cookie."""

    name: str
    value: str


def log_in(target: Target) -> Session:
    """Log in with the token of the target."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection(target.host, target.port, context=context, timeout=30)
    headers = {"Content-Type": "application/json", "X-Sampan-Page": "1", "Sec-Fetch-Site": "same-origin"}
    connection.request("POST", "/dashboard/session", json.dumps({"token": target.token}), headers)
    response = connection.getresponse()
    response.read()
    cookie = response.getheader("Set-Cookie") or ""
    connection.close()
    if response.status != 201 or not cookie:
        raise RuntimeError(f"the server refused the login: {response.status}")
    name, _, value = cookie.partition(";")[0].partition("=")
    return Session(name, value)
