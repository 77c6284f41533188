"""Two admission webhooks for Pods: one adds a container, one refuses images without a fixed tag.

    python webhooks.py          # for the cluster of KUBECONFIG; Ctrl-C ends it

It listens on loopback, creates its certificates, and registers itself with the API server. It applies only to
namespaces with the label `admission: example`, so it cannot block others.
"""

import asyncio
import contextlib
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sampan.client import Client, connect
from sampan.core.field import Path as FieldPath
from sampan.core.field import invalid
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Manager
from sampan.operator.webhook import DirectoryStore, Finding, Findings, WebhookOptions, WebhookServer
from sampan.resource import Object, ResourceInfo

NAME: Final = "admission-example"
PODS: Final = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", namespaced=True)
HERE: Final = {"matchLabels": {"admission": "example"}}
SIDECAR: Final = {"name": "log-shipper", "image": "log-shipper:1.0"}


def inject(pod: Object) -> None:
    """Add a log shipper, unless the Pod already has one: the webhook may be called twice."""
    containers = pod["spec"]["containers"]
    if SIDECAR["name"] not in [container["name"] for container in containers]:
        containers.append(dict(SIDECAR))


def check(pod: Object, old: Object | None) -> Findings:
    """Refuse images without a tag, or with `latest`, because their content can change between two starts."""
    return list(_faults(pod))


def _faults(pod: Object) -> Iterator[Finding]:
    for index, container in enumerate(pod["spec"]["containers"]):
        image = container["image"]
        tag = image.rpartition("/")[2].partition(":")[2]
        if tag in ("", "latest"):
            path = FieldPath("spec").child("containers").index(index).child("image")
            yield invalid(path, image, "name a tag other than latest")


async def run(client: Client, certificates: Path) -> None:
    """Serve both webhooks until SIGTERM or Ctrl-C."""
    manager = Manager(client)
    options = WebhookOptions(host="127.0.0.1", port=0, ensure_configurations=NAME)
    webhooks = WebhookServer(manager, DirectoryStore(certificates), options)
    webhooks.mutating(PODS, namespace_selector=HERE)(inject)
    webhooks.validating(PODS, namespace_selector=HERE)(check)
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(manager.run())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
        await webhooks.ready()
        print(f"webhooks ready on port {webhooks.port}", flush=True)


async def main() -> None:
    """Run on the cluster of the kubeconfig. The certificates are deleted when the process ends."""
    with tempfile.TemporaryDirectory() as certificates:
        async with connect(field_manager=NAME) as client:
            await run(client, Path(certificates))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(main())
