"""Program of a Pod: an admission webhook, a conversion webhook and an aggregated API, on one HTTPS port.

It has only the standard library. Its first argument is the port; the certificate is in /tls.
"""

import base64
import json
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GROUP = "/apis/pods.test/v1"
RESOURCE = {"name": "things", "singularName": "thing", "namespaced": False, "kind": "Thing", "verbs": ["list"]}


def admitted(review: dict[str, Any]) -> dict[str, Any]:
    """Return the review with a patch that adds a label."""
    patch = [{"op": "add", "path": "/metadata/labels", "value": {"hook": sys.argv[2]}}]
    text = base64.b64encode(json.dumps(patch).encode()).decode()
    found = {"uid": review["request"]["uid"], "allowed": True, "patchType": "JSONPatch", "patch": text}
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": found}


def converted(review: dict[str, Any]) -> dict[str, Any]:
    """Return the review with the objects in the desired version."""
    request = review["request"]
    objects = [{**each, "apiVersion": request["desiredAPIVersion"]} for each in request["objects"]]
    found = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": found}


class Handler(BaseHTTPRequestHandler):
    """Responds to reviews, and to the requests of an aggregated API."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Respond to a review."""
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._respond(converted(review) if self.path.startswith("/convert") else admitted(review))

    def do_GET(self) -> None:
        """Respond to a request of the API."""
        if self.path.startswith(f"{GROUP}/things"):
            thing = {"metadata": {"name": sys.argv[2]}, "apiVersion": "pods.test/v1", "kind": "Thing"}
            self._respond({"kind": "ThingList", "apiVersion": "pods.test/v1", "metadata": {}, "items": [thing]})
        elif self.path.rstrip("/") == GROUP:
            found = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "pods.test/v1"}
            self._respond({**found, "resources": [RESOURCE]})
        else:
            self._respond({"path": self.path}, 404 if self.path.startswith("/apis") else 200)

    def _respond(self, document: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve until the Pod ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("/tls/tls.crt", "/tls/tls.key")
    server = ThreadingHTTPServer(("", int(sys.argv[1])), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    print("serving", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
