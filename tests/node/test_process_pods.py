"""Pods whose containers are processes, with a server in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sampan.client import DeleteOptions
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONFIG_MAPS, PODS, SECRETS
from sampan.node.nodes import ProcessNode
from sampan.node.set_up import set_up
from sampan.resource import Object
from tests.client.connected import connected
from tests.controllers.cluster import Working, working
from tests.node.cluster import condition
from tests.server.cluster import MakeIdentity, no_identity


@asynccontextmanager
async def node(root: Path, *, identity: MakeIdentity = no_identity) -> AsyncIterator[Working]:
    """Run a cluster with a node of processes."""

    def setting_up(context: ControllerContext) -> None:
        set_up(context, ProcessNode("node", root))

    async with connected(identity=identity) as (client, _), working(client, setting_up) as found:
        yield found


def shell(script: str, name: str = "main", **more: Any) -> Object:
    return {"name": name, "image": "shell", "imagePullPolicy": "IfNotPresent", "command": ["sh", "-c", script], **more}


async def create(cluster: Working, *containers: Object, **spec: Any) -> Object:
    fields = {"nodeName": "node", "automountServiceAccountToken": False, "containers": list(containers), **spec}
    return await cluster.create(PODS, {"metadata": {"name": "web", "labels": {"app": "shop"}}, "spec": fields})


def has_phase(phase: str) -> Any:
    return lambda pod: pod["status"]["phase"] == phase


def is_ready(pod: Object) -> bool:
    return condition(pod, "Ready").get("status") == "True"


def main(pod: Object) -> Object:
    """Return the status of the first container; a default before the agent has written it."""
    found: Object = pod["status"].get("containerStatuses", [{"restartCount": 0}])[0]
    return found


async def message(cluster: Working) -> str:
    """Return the termination message of the container."""
    pod = await cluster.until(PODS, "web", lambda pod: pod["status"]["phase"] in ("Succeeded", "Failed"))
    return str(main(pod)["state"]["terminated"].get("message", ""))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "node"


async def test_environment_and_volumes_reach_the_process(root: Path, tmp_path: Path) -> None:
    script = "echo $COLOR $NAME $(cat $MOUNT/size) $(cat $LABELS) > $OUT; echo done"
    async with node(root) as cluster:
        await cluster.create(CONFIG_MAPS, {"metadata": {"name": "cfg"}, "data": {"COLOR": "blue", "size": "3"}})
        env = [
            {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "MOUNT", "value": "/sampan-test/cfg"},
            {"name": "LABELS", "value": "/sampan-test/info/labels"},
            {"name": "OUT", "value": "/sampan-test/out/file"},
        ]
        mounts = [
            {"name": "cfg", "mountPath": "/sampan-test/cfg"},
            {"name": "info", "mountPath": "/sampan-test/info"},
            {"name": "out", "mountPath": "/sampan-test/out"},
        ]
        volumes = [
            {"name": "cfg", "configMap": {"name": "cfg"}},
            {
                "name": "info",
                "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]},
            },
            {"name": "out", "hostPath": {"path": str(tmp_path / "out")}},
        ]
        container = shell(script, env=env, envFrom=[{"configMapRef": {"name": "cfg"}}], volumeMounts=mounts)
        await create(cluster, container, volumes=volumes, restartPolicy="Never")
        await cluster.until(PODS, "web", has_phase("Succeeded"))
        assert (tmp_path / "out" / "file").read_text() == 'blue web 3 app="shop"\n'


async def test_pod_waits_for_its_references(root: Path) -> None:
    async with node(root) as cluster:
        key = {"name": "later", "key": "k"}
        env = [{"name": "X", "valueFrom": {"secretKeyRef": key}}]
        await create(cluster, shell("exec sleep 100", env=env))
        pod = await cluster.until(PODS, "web", lambda pod: "CreateContainerConfigError" in str(pod["status"]))
        assert main(pod)["state"]["waiting"]["message"] == 'secret "later" not found'
        await cluster.create(SECRETS, {"metadata": {"name": "later"}, "stringData": {"k": "v"}})
        await cluster.until(PODS, "web", is_ready)
        (event, *_) = await cluster.events("Failed")
        assert (event["message"], event["source"]) == (
            'Error: secret "later" not found',
            {"component": "kubelet", "host": "node"},
        )
        assert event["involvedObject"]["fieldPath"] == "spec.containers{main}"


async def test_failed_mount_is_reported_and_files_follow_the_object(root: Path) -> None:
    async with node(root) as cluster:
        mounts = [{"name": "cfg", "mountPath": "/sampan-test/cfg"}]
        volumes = [{"name": "cfg", "configMap": {"name": "cfg"}}]
        made = await create(cluster, shell("exec sleep 100", volumeMounts=mounts), volumes=volumes)
        (event, *_) = await cluster.events("FailedMount")
        assert event["message"] == 'MountVolume.SetUp failed for volume "cfg" : configmap "cfg" not found'
        await cluster.create(CONFIG_MAPS, {"metadata": {"name": "cfg"}, "data": {"k": "1"}})
        await cluster.until(PODS, "web", is_ready)
        file = root / "pods" / made["metadata"]["uid"] / "volumes" / "kubernetes.io~configmap" / "cfg" / "k"
        assert file.read_text() == "1"
        await cluster.patch(CONFIG_MAPS, "cfg", {"data": {"k": "2"}})
        await cluster.until_all(PODS, lambda _: file.read_text() == "2")
        await cluster.client.resource(PODS).delete("web", DeleteOptions(grace_period_seconds=0))
        await cluster.until_all(PODS, lambda _: not (root / "pods" / made["metadata"]["uid"]).exists())


async def test_init_containers_sidecars_and_hooks_run_in_order(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "order"
    mounts: Any = {"volumeMounts": [{"name": "out", "mountPath": str(tmp_path)}]}

    def echo(word: str) -> Object:
        return {"exec": {"command": ["sh", "-c", f"echo {word} >> {out}"]}}

    trap = "trap 'echo {0}-ends >> {1}; exit 0' TERM; echo {0} >> {1}; while :; do sleep 0.05; done"
    async with node(root) as cluster:
        inits = [
            shell(f"echo init >> {out}", "init", **mounts),
            shell(trap.format("sidecar", out), "sidecar", restartPolicy="Always", **mounts),
        ]
        hooks: Any = {"lifecycle": {"postStart": echo("post-start"), "preStop": echo("pre-stop")}}
        container = shell(trap.format("main", out), **hooks, **mounts)
        volumes = [{"name": "out", "hostPath": {"path": str(tmp_path)}}]
        await create(cluster, container, initContainers=inits, volumes=volumes, terminationGracePeriodSeconds=5)
        await cluster.until(PODS, "web", is_ready)
        await cluster.until_all(PODS, lambda _: {"main", "sidecar"} <= set(out.read_text().split()))
        await cluster.delete(PODS, "web")
        await cluster.until_gone(PODS, "web")
        words = out.read_text().split()
        assert words[0] == "init"
        assert set(words[1:4]) == {"sidecar", "main", "post-start"}
        assert words[4:] == ["pre-stop", "main-ends", "sidecar-ends"]


async def test_failed_liveness_probe_restarts_the_container(root: Path) -> None:
    async with node(root) as cluster:
        probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
        await create(cluster, shell("exec sleep 100", livenessProbe=probe), terminationGracePeriodSeconds=1)
        pod = await cluster.until(PODS, "web", lambda pod: main(pod)["restartCount"] == 1)
        assert main(pod)["lastState"]["terminated"]["exitCode"] == 143
        (event, *_) = await cluster.events("Killing")
        assert event["message"] == "Container main failed liveness probe, will be restarted"


async def test_crashed_container_restarts_with_backoff(root: Path) -> None:
    async with node(root) as cluster:
        await create(cluster, shell("exit 3"))
        pod = await cluster.until(PODS, "web", lambda pod: "CrashLoopBackOff" in str(pod["status"]))
        assert main(pod)["lastState"]["terminated"]["exitCode"] == 3
        assert (await cluster.events("BackOff"))[0]["message"].startswith("Back-off restarting failed container main")


async def test_pod_past_its_deadline_fails(root: Path) -> None:
    async with node(root) as cluster:
        await create(cluster, shell("exec sleep 100"), activeDeadlineSeconds=1, terminationGracePeriodSeconds=1)
        pod = await cluster.until(
            PODS, "web", lambda pod: has_phase("Failed")(pod) and "terminated" in str(pod["status"])
        )
        status = pod["status"]
        assert status["reason"] == "DeadlineExceeded"
        assert status["message"] == "Pod was active on the node longer than the specified deadline"


async def test_pod_above_the_limit_of_its_volume_is_evicted(root: Path) -> None:
    async with node(root) as cluster:
        # Without namespaces, the volume is below $SAMPAN_ROOT, the working directory.
        script = "head -c 200000 /dev/zero > ${SAMPAN_ROOT:-}/data/file; exec sleep 1000"
        mount = {"name": "data", "mountPath": "/data"}
        volume = {"name": "data", "emptyDir": {"sizeLimit": "64Ki"}}
        await create(cluster, shell(script, volumeMounts=[mount]), volumes=[volume])
        pod = await cluster.until(PODS, "web", has_phase("Failed"))
        assert pod["status"]["message"] == 'Usage of EmptyDir volume "data" exceeds the limit "64Ki". '


async def test_pod_without_room_is_rejected(root: Path) -> None:
    async with node(root) as cluster:
        await create(cluster, shell("exec sleep 100", resources={"requests": {"cpu": "10k"}}))
        status = (await cluster.until(PODS, "web", has_phase("Failed")))["status"]
        assert status["reason"] == "OutOfcpu"
        assert status["message"].startswith("Pod was rejected: Node didn't have enough resource: cpu, requested: ")
        assert "containerStatuses" not in status


async def test_restart_rule_restarts_a_container(root: Path) -> None:
    async with node(root) as cluster:
        rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
        container = shell("exit 42", restartPolicy="Never", restartPolicyRules=[rule])
        await create(cluster, container, restartPolicy="Never")
        await cluster.until(PODS, "web", lambda pod: main(pod)["restartCount"] == 1)


async def test_termination_message_is_reported(root: Path) -> None:
    async with node(root) as cluster:
        container = shell("echo oh no; exit 1", terminationMessagePolicy="FallbackToLogsOnError")
        await create(cluster, container, restartPolicy="Never")
        assert await message(cluster) == "oh no\n"
