"""`webhook`: an admission webhook with HTTPS on a free port of 127.0.0.1, which a function answers."""

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sampan.core.clock import utc_now
from sampan.server.pki.certificates import make_ca, make_serving

Json = dict[str, Any]
Respond = Callable[[Json], Json]


@contextmanager
def webhook(folder: Path, respond: Respond) -> Iterator[Json]:
    """Serve, and return the `clientConfig` of the webhook. `respond` gets the request of a review."""
    now = utc_now()
    authority = make_ca("webhook-test", now)
    pair = make_serving(authority, ("127.0.0.1",), now)
    certificate, key = folder / "webhook.crt", folder / "webhook.key"
    certificate.write_bytes(pair.certificate_pem())
    key.write_bytes(pair.key_pem())
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(respond))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, name="webhook")
    thread.start()
    try:
        bundle = base64.b64encode(authority.certificate_pem()).decode()
        yield {"url": f"https://127.0.0.1:{server.server_address[1]}/review", "caBundle": bundle}
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def configuration(kind: str, name: str, client: Json, resources: list[str], group: str = "") -> Json:
    """Return a Validating- or MutatingWebhookConfiguration with one webhook."""
    rule = {"operations": ["CREATE", "UPDATE"], "apiGroups": [group], "apiVersions": ["v1"], "resources": resources}
    hook = {"name": name, "clientConfig": client, "rules": [rule], "sideEffects": "None"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{**hook, "admissionReviewVersions": ["v1"]}],
    }


def _handler(respond: Respond) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            response = {"uid": review["request"]["uid"], **respond(review["request"])}
            body = json.dumps({**review, "request": None, "response": response}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    return Handler
