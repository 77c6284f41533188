"""All resources that a server serves, from its discovery documents."""

from dataclasses import dataclass
from typing import Any

from tests.attack.wire import Client

CUSTOM = "attack.example.com"
MARK = "not-for-attackers"
"""In all objects that attackers have no right to."""
MARK_BASE64 = "bm90LWZvci1hdHRhY2tlcnM="
_SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_VERSION: dict[str, Any] = {
    "served": True,
    "schema": {"openAPIV3Schema": _SCHEMA},
    "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.r"}},
}


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource in one version, with its subresources."""

    group: str
    version: str
    name: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    subresources: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """Return the apiVersion of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def base(self) -> str:
        """Return the path of its version."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def collection(self, namespace: str = "", prefix: str = "") -> str:
        """Return the path of its objects; `prefix`: such as `/watch`."""
        space = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{self.base}{prefix}{space}/{self.name}"

    def path(self, name: str, subresource: str = "", namespace: str = "") -> str:
        """Return the path of an object."""
        return f"{self.collection(namespace)}/{name}" + (f"/{subresource}" if subresource else "")

    def body(self, name: str, namespace: str = "") -> dict[str, object]:
        """Return an object that has only a name."""
        space = {"namespace": namespace} if self.namespaced and namespace else {}
        target = {"target": {"kind": "Node", "name": "n1"}} if self.kind == "Binding" else {}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": name, **space}, **target}


async def resources(admin: Client) -> list[Resource]:
    """Return everything that discovery lists."""
    found: list[Resource] = []
    groups = (await admin.request("GET", "/apis")).json()["groups"]
    bases = [("", "v1")]
    bases += [(group["name"], version["version"]) for group in groups for version in group["versions"]]
    for group, version in bases:
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        listed = (await admin.request("GET", path)).json()["resources"]
        for one in listed:
            if "/" in one["name"]:
                continue
            below = tuple(
                other["name"].split("/", 1)[1] for other in listed if other["name"].startswith(one["name"] + "/")
            )
            found.append(
                Resource(group, version, one["name"], one["kind"], one["namespaced"], tuple(one["verbs"]), below)
            )
    return found


async def prepare(admin: Client) -> None:
    """Create the namespaces and the custom resources of the attacks."""
    for namespace in ("mine", "theirs"):
        await admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    pod: dict[str, Any] = {"spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "n1"}}
    for namespace in ("mine", "theirs"):
        kinds: dict[str, dict[str, Any]] = {"pods": pod, "configmaps": {}, "secrets": {"data": {"mark": MARK_BASE64}}}
        for kind, fields in kinds.items():
            made: dict[str, Any] = {"metadata": {"name": "one", "labels": {"mark": MARK}}, **fields}
            await admin.request("POST", f"/api/v1/namespaces/{namespace}/{kind}", made)
    for plural, scope in (("boxes", "Namespaced"), ("globes", "Cluster")):
        versions = [{"name": "v1", "storage": True, **_VERSION}, {"name": "v2", "storage": False, **_VERSION}]
        names = {"plural": plural, "kind": plural[:-2].capitalize()}
        spec = {"group": CUSTOM, "scope": scope, "names": names, "versions": versions}
        made = {"metadata": {"name": f"{plural}.{CUSTOM}"}, "spec": spec}
        await admin.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", made)
        while (await admin.request("GET", f"/apis/{CUSTOM}/v2/{plural}")).status != 200:
            pass
