"""`read_attachments`: how the CNI plug-ins connected the node's Pods, from the results that the runtime stores.

Source: CNI specification 1.0 "Add Success"; libcni api.go `cachedInfo`, which containerd and CRI-O use.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.wire import json

RESULTS: Final = Path("/var/lib/cni/results")
"""Directory with one file for each interface of a sandbox."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """Interface of a Pod."""

    container: str
    """Id of the sandbox."""
    interface: str
    """Name inside of the Pod."""
    namespace: str
    """Path of the Pod's network namespace."""
    links: tuple[tuple[str, str], ...]
    """Name and MAC of each link on the node: bridge, veth."""
    configuration: dict[str, Any]
    """Configuration of the network, with the list of plug-ins."""
    ports: tuple[dict[str, Any], ...]
    """Port mappings, as plug-ins receive them."""
    result: dict[str, Any]
    """Result of all plug-ins."""


def read_attachments(directory: Path, network: str) -> list[Attachment]:
    """Return the attachments to a network, the newest last. A file that cannot be read is left out."""
    try:
        paths = [(path.stat().st_mtime, path) for path in directory.glob(f"{network}-*")]
    except OSError:
        return []
    return [found for _, path in sorted(paths) for found in _read(path, network)]


def _read(path: Path, network: str) -> Iterator[Attachment]:
    try:
        content = json.decode(path.read_bytes())
        result, namespace = content["result"], ""
        links = []
        for each in result["interfaces"]:
            if each.get("sandbox"):
                namespace = each["sandbox"]
            else:
                links.append((each["name"], each.get("mac", "")))
        if content["networkName"] == network and namespace:
            yield Attachment(
                content["containerId"],
                content["ifName"],
                namespace,
                tuple(links),
                json.decode(base64.b64decode(content["config"])),
                tuple((content.get("capabilityArgs") or {}).get("portMappings") or ()),
                result,
            )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return  # The runtime is writing or removing the file, or another version has written it.
