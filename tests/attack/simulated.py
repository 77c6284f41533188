"""Ways to make the server connect to the address of a simulated Pod: each is refused, with what to do.

The Pods are those of a Deployment on the node that `sampan up` starts by default. A webhook for ConfigMaps of one
namespace and an APIService name their Service, as manifests of ingress controllers and of the metrics server do.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from tests.attack.report import Count
from tests.attack.server import Attacked
from tests.attack.wire import Client

SPACE: Final = "/api/v1/namespaces/mine"
REMEDY: Final = "--node-runtime process or cri"
SERVICE: Final = {"namespace": "mine", "name": "web"}
HOOKS: Final = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
API_SERVICE: Final = "/apis/apiregistration.k8s.io/v1/apiservices"
_SIMULATED: Final = "FA"
"""End of addresses of 250.0.0.0/8 in /proc/net/tcp: the first octet comes last."""


async def _until(admin: Client, path: str, holds: Any) -> Any:
    for _ in range(600):
        reply = await admin.request("GET", path)
        if reply.status == 200 and holds(reply.json()):
            return reply.json()
        await asyncio.sleep(0.1)
    raise RuntimeError(f"{path} is not as expected")


async def _workload(admin: Client) -> Any:
    """Create a Deployment and its Service. Return one of its Pods."""
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    await admin.request("POST", "/api/v1/namespaces", {"metadata": {"name": "mine"}})
    await _until(admin, f"{SPACE}/serviceaccounts/default", lambda _: True)
    await admin.request(
        "POST", "/apis/apps/v1/namespaces/mine/deployments", {"metadata": {"name": "web"}, "spec": spec}
    )
    ports = [{"port": 443, "targetPort": 8443}]
    await admin.request(
        "POST", f"{SPACE}/services", {"metadata": {"name": "web"}, "spec": {"selector": labels, "ports": ports}}
    )
    await _until(admin, f"{SPACE}/endpoints/web", lambda found: found.get("subsets"))
    return (await _until(admin, f"{SPACE}/pods", lambda found: len(found["items"]) == 2))["items"][0]


@asynccontextmanager
async def _hook(admin: Client, config: dict[str, Any]) -> AsyncIterator[None]:
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    hook = {
        "name": "hook.attack.example.com",
        "clientConfig": config,
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "mine"}},
    }
    await admin.request("POST", HOOKS, {"metadata": {"name": "attack"}, "webhooks": [hook]})
    try:
        yield
    finally:
        await admin.request("DELETE", f"{HOOKS}/attack")


def _dialled() -> list[str]:
    """Return the connections of this machine to addresses of simulated Pods."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return [line.split()[2] for line in lines if line.split()[2][6:8] == _SIMULATED]


async def dial_simulated_pods(target: Attacked) -> Count:
    """Try each way."""
    count = Count("simulated: dialled Pods")
    async with target.admin() as admin:
        pod = await _workload(admin)
        name, address = pod["metadata"]["name"], pod["status"]["podIP"]
        for config in (
            {"service": SERVICE},
            {"url": f"https://{address}/hook"},
            {"url": f"https://[::ffff:{address}]/"},
        ):
            async with _hook(admin, config):
                reply = await admin.request("POST", f"{SPACE}/configmaps", {"metadata": {"name": "a"}})
            _note(count, f"webhook {config}", reply.message)
        spec = {"group": "attack.example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}
        spec |= {"service": SERVICE, "insecureSkipTLSVerify": True}
        await admin.request("POST", API_SERVICE, {"metadata": {"name": "v1.attack.example.com"}, "spec": spec})
        found = await _until(
            admin, f"{API_SERVICE}/v1.attack.example.com", lambda found: found.get("status", {}).get("conditions")
        )
        _note(count, "APIService", found["status"]["conditions"][0]["message"])
        await admin.request("DELETE", f"{API_SERVICE}/v1.attack.example.com")
        node = pod["spec"]["nodeName"]
        paths = f"{SPACE}/pods/{name}:80/proxy/", f"{SPACE}/services/web:443/proxy/", f"/api/v1/nodes/{node}:80/proxy/"
        for path in paths:
            _note(count, path, (await admin.request("GET", path)).message)
        count.note("connections", True, f"dialled {' '.join(_dialled())}" if _dialled() else "")
        if pod["status"]["hostIP"] not in str((await admin.request("GET", f"/api/v1/nodes/{node}")).json()["status"]):
            count.note("hostIP", True, "it is no address of the Node")
    return count


def _note(count: Count, context: str, message: str) -> None:
    count.note(context, True, "" if REMEDY in message else f"the message was {message!r}")
