"""`SecretStore`: certificates in a Secret, which all replicas share.

Concurrency: `watch` runs an informer of this Secret; `load` requests it from the server.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Final

from sampan.client.client import Client
from sampan.client.errors import AlreadyExists, Conflict, NotFound
from sampan.client.patch import MergePatch
from sampan.core.gvk import GroupVersionResource
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.rights import Right, rights_on
from sampan.operator.webhook.certificates.store import Stored
from sampan.operator.webhook.change_handler import changes
from sampan.resource import Object, ResourceInfo

SECRETS: Final = ResourceInfo(GroupVersionResource("", "v1", "secrets"), "Secret", namespaced=True)


class SecretStore:
    """Implements `CertificateStore`. The operator needs get, list, watch and patch of the Secret.

    It also needs create, unless the Secret exists, perhaps without data, as `sampan bundle` makes it. If a key was
    exposed, remove the data of the Secret: then everything is issued again at once.
    """

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._secrets = client.resource(SECRETS, namespace=namespace)
        self._name = name

    def rights(self) -> list[Right]:
        """Return the rights on the Secret, which `sampan bundle` creates."""
        namespace = self._secrets.namespace
        return rights_on(SECRETS, ("get", "list", "patch", "watch"), (namespace,), name=self._name)

    def empty(self) -> Object:
        """Return the Secret without data. If it exists before the operator, the operator needs no right to create."""
        return {key: value for key, value in self._secret({}).items() if key != "data"} | {"type": "Opaque"}

    async def load(self) -> Stored | None:
        """Return the current state; None if there is none."""
        try:
            secret = await self._secrets.get(self._name)
        except NotFound:
            return None
        files = {name: _decoded(text) for name, text in (secret.get("data") or {}).items()}
        return Stored(files, secret["metadata"]["resourceVersion"])

    async def save(self, files: Mapping[str, bytes], before: Stored | None) -> bool:
        """Replace the state that `load` returned. An existing Secret is reused, and its other data stay."""
        data = {name: base64.b64encode(content).decode() for name, content in files.items()}
        try:
            if before is None:
                await self._secrets.create(self._secret(data))
            else:
                metadata = {"resourceVersion": before.version}
                await self._secrets.patch(self._name, MergePatch({"metadata": metadata, "data": data}))
        except (AlreadyExists, Conflict, NotFound):
            return False
        return True

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each possible change, until cancelled."""
        informer = SharedInformer(self._secrets.list_watch_of(self._name), self._secrets.object_type)
        informer.add_handler(changes(changed))
        await informer.run()

    def _secret(self, data: Mapping[str, str]) -> Object:
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": self._name, "namespace": self._secrets.namespace},
            "type": "kubernetes.io/tls",
            "data": dict(data),
        }


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return b""
