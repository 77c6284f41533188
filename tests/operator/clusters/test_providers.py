"""Sources of clusters: contexts of kubeconfig files, and ClusterProfile objects."""

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sampan.client.config import Config, ExecConfig
from sampan.operator import Manager
from sampan.operator.clusters import ClusterProfiles, KubeconfigContexts
from sampan.testing import Cluster
from sampan.testing.time.virtual_time import virtual_time
from sampan.wire import yaml

GCP = ExecConfig("client.authentication.k8s.io/v1", "get-token", ("--for", "boats"))
PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n").decode()


def kubeconfig(*contexts: str) -> str:
    return yaml.encode(
        {
            "clusters": [{"name": name, "cluster": {"server": f"https://{name}:6443"}} for name in contexts],
            "users": [{"name": "me", "user": {"token": "t"}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": "me"}} for name in contexts],
        }
    ).decode()


@virtual_time
async def test_each_context_is_a_cluster_and_the_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(kubeconfig("east", "west"))
    changes = KubeconfigContexts(path).clusters()
    assert {name: target.server for name, target in (await anext(changes)).items() if isinstance(target, Config)} == {
        "east": "https://east:6443",
        "west": "https://west:6443",
    }
    following = asyncio.ensure_future(anext(changes))
    await asyncio.sleep(100)
    assert not following.done(), "an unchanged file is no change"
    path.write_text("{")
    await asyncio.sleep(100)
    assert not following.done(), "a broken file leaves the last clusters"
    path.write_text(kubeconfig("west", "north"))
    assert sorted(await following) == ["north", "west"]
    await changes.aclose()


@virtual_time
async def test_only_the_named_contexts_are_clusters(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(kubeconfig("east", "west"))
    changes = KubeconfigContexts(tmp_path / "config", contexts=["west", "missing"]).clusters()
    assert list(await anext(changes)) == ["west"]
    await changes.aclose()


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {
        "name": "clusterprofiles.multicluster.x-k8s.io",
        "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes/enhancements/pull/4322"},
    },
    "spec": {
        "group": "multicluster.x-k8s.io",
        "names": {"kind": "ClusterProfile", "plural": "clusterprofiles"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


def profile(name: str, *providers: dict[str, Any], namespace: str = "default") -> dict[str, Any]:
    return {
        "apiVersion": "multicluster.x-k8s.io/v1alpha1",
        "kind": "ClusterProfile",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterManager": {"name": "ocm"}},
        "status": {"accessProviders": list(providers)},
    }


def provider(name: str, server: str, **cluster: Any) -> dict[str, Any]:
    return {"name": name, "cluster": {"server": server, **cluster}}


async def test_cluster_profiles_are_clusters_and_files_of_the_operator_are_never_named(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    await cluster.crds(CRD)
    await cluster.apply(
        profile("east", provider("aws", "https://a:1"), provider("gcp", "https://east:6443", **{
            "certificate-authority-data": PEM, "certificate-authority": "/etc/passwd", "tls-server-name": "kube",
        }))
    )  # fmt: skip
    await cluster.apply(profile("unknown", provider("aws", "https://a:1")))
    await cluster.apply(profile("broken", provider("gcp", "nonsense://x y")))
    manager = Manager(cluster.client(actor="operator"))
    task = asyncio.create_task(manager.run())
    changes = ClusterProfiles(manager, {"gcp": GCP}).clusters()
    found = await anext(changes)
    assert list(found) == ["default/east"]
    east = found["default/east"]
    assert isinstance(east, Config)
    assert (east.server, east.tls.server_name) == ("https://east:6443", "kube")
    assert east.exec is not None
    assert (east.exec.command, east.exec.args, east.exec.interactive_mode) == ("get-token", ("--for", "boats"), "Never")
    assert "/etc/passwd" not in repr(east)
    assert "cluster default/broken cannot be used" in caplog.text
    following: Callable[[], Any] = lambda: asyncio.wait_for(anext(changes), 10)  # noqa: E731
    await cluster.apply(profile("west", provider("gcp", "https://west:6443")))
    assert sorted(await following()) == ["default/east", "default/west"]
    await cluster.delete("ClusterProfile/east")
    assert sorted(await following()) == ["default/west"]
    await changes.aclose()
    manager.stop()
    await task
