"""Cluster with a Node whose kubelet is an upstream of the test: HTTPS, with client certificates."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sampan.server.proxy.kubelet import KubeletSettings
from sampan.server.proxy.upstreams import UpstreamSettings
from tests.server.cluster import Api, served
from tests.server.proxy.upstream import Respond, Upstream, upstream
from tests.server.tls_files import make_files

PODS = "/api/v1/namespaces/default/pods"


@dataclass
class Cell:
    """Server, its Node `n1`, and the kubelet of the Node."""

    api: Api
    kubelet: Upstream

    async def add_node(self, name: str, **status: Any) -> None:
        """Add a Node with this status."""
        await self.api.create("/api/v1/nodes", {"metadata": {"name": name}})
        response = await self.api.patch(f"/api/v1/nodes/{name}/status", {"status": status})
        assert response.code == 200, response.body

    async def add_pod(
        self, name: str = "p", *containers: str, node: str | None = "n1", ip: str = "", **spec: Any
    ) -> None:
        """Add a Pod with containers of these names (by default one, `c`)."""
        listed = [{"name": each, "image": "i"} for each in containers or ("c",)]
        spec = {"containers": listed, **({"nodeName": node} if node else {}), **spec}
        await self.api.create(PODS, {"metadata": {"name": name}, "spec": spec})
        if ip:
            status = {"podIP": ip, "podIPs": [{"ip": ip}]}
            response = await self.api.patch(f"{PODS}/{name}/status", {"status": status})
            assert response.code == 200, response.body


@asynccontextmanager
async def cell(
    folder: Path, response: Respond, *, verified: bool = True, loopback: bool = True, **more: Any
) -> AsyncIterator[Cell]:
    """Start a cell. With `verified`, the server trusts the issuer of the kubelet's certificate; it gets `more`."""
    files = make_files(folder)
    serving, client = files.serving("kubelet", "127.0.0.1"), files.client("kube-apiserver-kubelet-client")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(serving.certificate, serving.key)
    tls.load_verify_locations(files.ca_file)
    tls.verify_mode = ssl.CERT_REQUIRED
    settings = KubeletSettings(client.certificate, client.key, files.ca_file if verified else None)
    async with (
        upstream(response, tls) as kubelet,
        served(proxy=UpstreamSettings(settings, allow_loopback=loopback), **more) as api,
    ):
        made = Cell(api, kubelet)
        await made.add_node(
            "n1",
            addresses=[{"type": "Hostname", "address": "n1"}, {"type": "InternalIP", "address": "127.0.0.1"}],
            daemonEndpoints={"kubeletEndpoint": {"Port": kubelet.port}},
        )
        yield made
