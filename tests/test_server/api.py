"""A client for the kubeconfig of a test server, without the start of a program."""

import base64
import http.client
import json
import ssl
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Any

import yaml

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class Api:
    """Sends requests with the rights of a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._context = ssl.create_default_context(cadata=authority)
        token = config["users"][0]["user"].get("token") or kubeconfig.with_name("admin.token").read_text().strip()
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        self._host = cluster["server"].removeprefix("https://")

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """Return the code and the decoded body of a response."""
        connection = http.client.HTTPSConnection(self._host, context=self._context, timeout=20)
        content = None if body is None else json.dumps(body)
        with closing(connection):
            connection.request(method, path, content, self._headers)
            with connection.getresponse() as response:
                return response.status, json.loads(response.read())


def config_map(name: str, owner: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a ConfigMap, owned by another one."""
    metadata: dict[str, Any] = {"name": name}
    if owner is not None:
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
        metadata["ownerReferences"] = [reference]
    return {"metadata": metadata}


def until(condition: Callable[[], bool], tries: int = 1000) -> None:
    """Wait for another process."""
    for _ in range(tries):
        if condition():
            return
        sleep(0.01)
    raise AssertionError("the condition has not become true")
