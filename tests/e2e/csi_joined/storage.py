"""A joined node with storage drivers and `sampan csi` for each of them."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cri.processes import SAMPAN
from tests.e2e.cri.small_cluster import SmallCluster
from tests.e2e.cri.test_pods import manifest
from tests.e2e.csi.driver import _to_json
from tests.e2e.csi.settings import Settings
from tests.e2e.kubectl import Kubectl
from tests.machines import Machine, wait_for

NODE = "one"
REGISTRY = "/var/lib/sampan/plugins_registry"
TEST_DRIVER, HOST_PATH = "test.csi.sampan.dev", "hostpath.csi.k8s.io"
_MODES = ["Persistent", "Ephemeral"]
_SNAPSHOTS = {"volumesnapshotclasses": "VolumeSnapshotClass", "volumesnapshotcontents": "VolumeSnapshotContent"}
_SNAPSHOTS["volumesnapshots"] = "VolumeSnapshot"


@dataclass
class Storage:
    """Cluster with one driver."""

    cluster: SmallCluster
    name: str
    """Name of the driver."""

    @property
    def kubectl(self) -> Kubectl:
        """Kubectl of an administrator."""
        return self.cluster.kubectl

    @property
    def machine(self) -> Machine:
        """Machine of the node."""
        return self.cluster.machine(NODE)

    @property
    def prefix(self) -> str:
        """Start of the names of this driver's objects."""
        return self.name.partition(".")[0]

    def create(self, kind: str, name: str, content: Mapping[str, Any], version: str = "v1") -> None:
        """Create an object with the fields besides its metadata."""
        self.kubectl.apply(json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": name}, **content}))

    def claim(self, name: str, *, mode: str = "Filesystem", source: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Create a claim, and return the volume for a Pod."""
        spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "storageClassName": self.prefix, "volumeMode": mode}
        spec["resources"] = {"requests": {"storage": "8Mi"}}
        if source is not None:
            spec["dataSource"] = source
        self.create("PersistentVolumeClaim", name, {"spec": spec})
        return {"name": "data", "persistentVolumeClaim": {"claimName": name}}

    def pod(self, name: str, volume: Mapping[str, Any], command: str, *, is_block: bool = False) -> None:
        """Run a Pod with a volume at /data, and wait until it is ready."""
        spec = {"volumes": [volume], "terminationGracePeriodSeconds": 1}
        mounts = {"volumeDevices": [{"name": "data", "devicePath": "/dev/data"}]} if is_block else {}
        mounts = mounts or {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}
        self.kubectl.apply(manifest(name, f"{command}; sleep 1000", spec=spec, **mounts))
        self.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=40s")

    def prints(self, pod: str, text: str) -> None:
        """Wait until a Pod has printed a text."""
        wait_for(lambda: text in self.kubectl("logs", pod), text)

    def delete(self, *names: str) -> None:
        """Delete objects, each as `KIND/NAME`, and wait for their end."""
        self.kubectl("delete", *names, "--timeout=50s")

    def volumes(self) -> list[str]:
        """Return the PersistentVolumes of the driver."""
        found = self.kubectl.get("pv")["items"]
        return [each["metadata"]["name"] for each in found if each["spec"]["csi"]["driver"] == self.name]


def start(cluster: SmallCluster, name: str) -> Storage:
    """Run a driver with `sampan csi`, and create its CSIDriver and classes. Skips without the driver's program."""
    storage = Storage(cluster, name)
    data = cluster.lan.machines[0].root.parent / storage.prefix
    data.mkdir()
    socket = f"/run/{storage.prefix}/csi.sock"
    if name == HOST_PATH:
        _start_host_path(storage.machine, data, socket)
    else:
        settings = Settings(data, Path(socket), Path(REGISTRY), node=NODE)
        command = (sys.executable, "-m", "tests.e2e.csi.driver", "--settings", _to_json(settings))
        storage.machine.start(*_with_path(command), log=f"{storage.prefix}.log")
    storage.create(
        "CSIDriver",
        name,
        {"spec": {"volumeLifecycleModes": _MODES, "podInfoOnMount": True, "tokenRequests": [{"audience": "vault"}]}},
        "storage.k8s.io/v1",
    )
    fields = {"provisioner": name, "allowVolumeExpansion": True, "volumeBindingMode": "WaitForFirstConsumer"}
    storage.create("StorageClass", storage.prefix, fields, "storage.k8s.io/v1")
    copies = {"driver": name, "deletionPolicy": "Delete"}
    storage.create("VolumeSnapshotClass", storage.prefix, copies, "snapshot.storage.k8s.io/v1")
    sidecars = (*SAMPAN, "csi", "--driver-socket", socket, "--kubeconfig", str(cluster.kubeconfig))
    storage.machine.start(*sidecars, log=f"{storage.prefix}-sampan-csi.log")
    wait_for(lambda: name in cluster.kubectl("get", "csinode", NODE, "-o", "yaml"), "the registration")
    return storage


def _start_host_path(machine: Machine, data: Path, socket: str) -> None:
    program = os.environ.get("SAMPAN_CSI_HOST_PATH") or shutil.which("hostpathplugin")
    if not program:
        pytest.skip("no program of csi-driver-host-path: not in SAMPAN_CSI_HOST_PATH, no hostpathplugin on PATH")
    machine.run("mkdir", "-p", str(Path(socket).parent))
    options = [f"--endpoint=unix://{socket}", f"--nodeid={NODE}", f"--statedir={data}", "--enable-attach=true"]
    machine.start(program, *options, log="hostpath.log")
    command = (sys.executable, "-m", "tests.e2e.csi_joined.registrar", HOST_PATH, socket, REGISTRY)
    machine.start(*_with_path(command), log="registrar.log")


def _with_path(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command that can import the tests."""
    path = os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])
    return ("env", f"PYTHONPATH={path}", *command)


def define_snapshots(kubectl: Kubectl) -> None:
    """Create the kinds of snapshots, without their schemas."""
    for plural, kind in _SNAPSHOTS.items():
        name = f"{plural}.snapshot.storage.k8s.io"
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        version = {"name": "v1", "served": True, "storage": True, "schema": schema}
        if kind != "VolumeSnapshotClass":
            version["subresources"] = {"status": {}}
        scope = "Namespaced" if kind == "VolumeSnapshot" else "Cluster"
        names = {"plural": plural, "singular": kind.lower(), "kind": kind}
        spec = {"group": "snapshot.storage.k8s.io", "scope": scope, "names": names, "versions": [version]}
        metadata = {"name": name, "annotations": {"api-approved.kubernetes.io": "https://example.com"}}
        definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        kubectl.apply(json.dumps({**definition, "metadata": metadata, "spec": spec}))
        kubectl("wait", "--for=condition=Established", f"crd/{name}", "--timeout=20s")
