"""Pods of a node with containerd, used with kubectl."""

import json
import os
import signal
import subprocess
from typing import Any

import pytest

from tests.e2e.cri.conftest import Cluster
from tests.e2e.cri.image import APP

pytestmark = pytest.mark.e2e


def manifest(name: str, *command: str, spec: dict[str, Any] | None = None, **container: Any) -> str:
    """Return a Pod with one container that runs a shell command."""
    main = {"name": "main", "image": APP, "command": ["sh", "-c", *command], **container}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [main], **(spec or {})},
    }
    return json.dumps(pod)


def ready_since(pod: dict[str, Any]) -> str:
    """Return when a Pod became ready."""
    (found,) = (each["lastTransitionTime"] for each in pod["status"]["conditions"] if each["type"] == "Ready")
    return str(found)


@pytest.fixture(scope="module")
def web(cluster: Cluster) -> str:
    """Name of a Pod with volumes that serves a file."""
    kubectl = cluster.kubectl
    kubectl("create", "configmap", "settings", "--from-literal=color=blue")
    kubectl("create", "secret", "generic", "password", "--from-literal=word=hidden")
    volumes = [
        {"name": "files", "emptyDir": {}},
        {"name": "settings", "configMap": {"name": "settings"}},
        {"name": "password", "secret": {"secretName": "password"}},
    ]
    mounts = [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes]
    command = "cp /settings/color /files/index.html; echo serving; exec httpd -f -p 8080 -h /files"
    kubectl.apply(
        manifest(
            "web",
            command,
            spec={"volumes": volumes, "terminationGracePeriodSeconds": 1},
            volumeMounts=mounts,
            readinessProbe={"httpGet": {"path": "/index.html", "port": 8080}, "periodSeconds": 1},
        )
    )
    cluster.ready("web")
    return "web"


def test_pod_reaches_the_address_of_another_pod(cluster: Cluster, web: str) -> None:
    address = cluster.pod(web)["status"]["podIP"]
    cluster.kubectl("run", "client", f"--image={APP}", "--restart=Never", "--", "wget", "-qO-", f"{address}:8080")
    cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/client", "--timeout=30s")
    assert cluster.kubectl("logs", "client") == "blue"


def test_pod_reaches_the_api_server(cluster: Cluster, web: str) -> None:
    connect = 'nc -w 3 "$KUBERNETES_SERVICE_HOST" "$KUBERNETES_SERVICE_PORT" < /dev/null && echo reached'
    assert cluster.kubectl("exec", web, "--", "sh", "-c", connect) == "reached"


def test_volumes_and_names_are_those_of_the_pod(cluster: Cluster, web: str) -> None:
    observed = cluster.kubectl(
        "exec", web, "--", "sh", "-c", "cat /settings/color /password/word; hostname; cat /etc/hosts"
    )
    assert observed.startswith("bluehiddenweb\n# Kubernetes-managed hosts file.")
    assert observed.endswith(f"{cluster.pod(web)['status']['podIP']}\tweb")


def test_logs_are_those_of_the_container(cluster: Cluster, web: str) -> None:
    assert cluster.kubectl("logs", web, "--tail=1") == "serving"


def test_exec_passes_streams_and_the_exit_code(cluster: Cluster, web: str) -> None:
    assert cluster.kubectl("exec", "-i", web, "--", "wc", "-c", stdin="x" * 100_000) == "100000"
    failed = cluster.kubectl.run("exec", web, "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (failed.returncode, failed.stdout) == (3, "out\n")
    assert failed.stderr.startswith("err\n")
    assert "executable file not found" in cluster.kubectl.fails("exec", web, "--", "nosuch")


def test_attach_without_a_terminal_shows_the_output_of_a_terminal(cluster: Cluster) -> None:
    words = ["run", "seen", "-it", "--rm", "--restart=Never", f"--image={APP}", "--", "sh", "-c", "sleep 2; tty"]
    attached = cluster.kubectl.run(*words, stdin="")
    assert (attached.returncode, attached.stdout.splitlines()[0]) == (0, "/dev/pts/0"), attached.stderr


def test_usage_of_a_restarted_container_is_that_of_the_running_one(cluster: Cluster) -> None:
    command = "test -e /kept/ran && exec sleep 1000; touch /kept/ran; sleep 1; exit 1"
    volumes = {"volumes": [{"name": "kept", "emptyDir": {}}]}
    cluster.kubectl.apply(
        manifest("again", command, spec=volumes, volumeMounts=[{"name": "kept", "mountPath": "/kept"}])
    )
    cluster.until(lambda: "running" in cluster.container("again").get("state", {}), "a start")
    cluster.until(
        lambda: cluster.container("again")["restartCount"] and cluster.container("again")["ready"], "a restart"
    )

    def used() -> list[int]:
        summary = json.loads(cluster.kubectl("get", "--raw", "/api/v1/nodes/node-1/proxy/stats/summary"))
        pods = [each for each in summary["pods"] if each["podRef"]["name"] == "again"]
        return [each.get("memory", {}).get("workingSetBytes", 0) for pod in pods for each in pod["containers"]]

    cluster.until(lambda: any(used()), "usage of the container")
    assert [amount > 0 for amount in used()] == [True]


def test_usage_is_complete_while_a_pod_has_ended(cluster: Cluster) -> None:
    cluster.kubectl.apply(manifest("over", "true", spec={"restartPolicy": "Never"}))
    cluster.kubectl.apply(manifest("busy", "exec sleep 1000"))
    cluster.until(lambda: cluster.pod("over")["status"]["phase"] == "Succeeded", "the end of a Pod")
    cluster.ready("busy")

    def measured() -> bool:
        summary = json.loads(cluster.kubectl("get", "--raw", "/api/v1/nodes/node-1/proxy/stats/summary"))
        pods = [each for each in summary["pods"] if each["podRef"]["name"] == "busy"]
        return any("network" in pod and "memory" in pod for pod in pods)

    cluster.until(measured, "usage of the Pod")


def test_port_of_a_pod_is_forwarded(cluster: Cluster, web: str) -> None:
    command = [cluster.kubectl.program, "port-forward", web, "18080:8080"]
    forward = subprocess.Popen(
        command,
        env=dict(cluster.kubectl.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        assert forward.stdout is not None
        assert forward.stdout.readline().startswith("Forwarding from")
        assert cluster.machine.run("busybox", "wget", "-qO-", "http://127.0.0.1:18080/index.html") == "blue"
    finally:
        os.killpg(forward.pid, signal.SIGKILL)  # kubectl is a child of the program that enters the machine.
        forward.communicate()


def test_failed_liveness_probe_restarts_a_container(cluster: Cluster) -> None:
    probe = {"exec": {"command": ["test", "-e", "/alive"]}, "periodSeconds": 1, "failureThreshold": 1}
    command = "touch /alive; sleep 1; rm /alive; sleep 1000"
    cluster.kubectl.apply(manifest("sick", command, livenessProbe=probe))
    cluster.until(lambda: cluster.container("sick").get("restartCount"), "a restart")
    assert "failed liveness probe, will be restarted" in cluster.kubectl("describe", "pod", "sick")


def test_container_above_its_memory_limit_is_oom_killed(cluster: Cluster) -> None:
    limits = {"limits": {"memory": "16Mi"}}
    cluster.kubectl.apply(manifest("greedy", "tail /dev/zero", spec={"restartPolicy": "Never"}, resources=limits))
    cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Failed", "pod/greedy", "--timeout=30s")
    ended = cluster.container("greedy")["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)


def test_resized_container_gets_its_new_limits_without_a_restart(cluster: Cluster) -> None:
    amounts = {"cpu": "100m", "memory": "32Mi"}
    cluster.kubectl.apply(manifest("resized", "sleep 1000", resources={"requests": amounts, "limits": amounts}))
    cluster.ready("resized")
    new = {"cpu": "200m", "memory": "64Mi"}
    patch = {"spec": {"containers": [{"name": "main", "resources": {"requests": new, "limits": new}}]}}
    cluster.kubectl("patch", "pod", "resized", "--subresource", "resize", "-p", json.dumps(patch))
    cluster.until(lambda: cluster.container("resized").get("resources", {}).get("limits") == new, "the resize")
    uid = cluster.pod("resized")["metadata"]["uid"]
    path = f"/sys/fs/cgroup/memory/{cluster.machine.cgroup}/kubepods/pod{uid}"
    limits = [f"{path}/memory.limit_in_bytes", f"{path}/{cluster.container('resized')['containerID'][13:]}/"]
    assert cluster.machine.run("cat", limits[0]).strip() == str(64 << 20)
    assert cluster.machine.run("cat", f"{limits[1]}memory.limit_in_bytes").strip() == str(64 << 20)
    assert cluster.container("resized")["restartCount"] == 0
    events = cluster.kubectl("get", "events", "--field-selector", "involvedObject.name=resized")
    assert "ResizeCompleted" in events


def test_image_volume_is_mounted_or_its_pod_reports_what_is_missing(cluster: Cluster) -> None:
    volume = {"name": "files", "image": {"reference": APP, "pullPolicy": "IfNotPresent"}}
    mount = {"name": "files", "mountPath": "/files"}
    cluster.kubectl.apply(
        manifest("mounts", "/files/bin/busybox sleep 1000", spec={"volumes": [volume]}, volumeMounts=[mount])
    )
    (node,) = cluster.kubectl.get("nodes")["items"]
    if node["status"]["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://1."):
        text = "cannot mount images: containerd 2.1 can"
        cluster.until(lambda: text in json.dumps(cluster.container("mounts").get("state")), "the reason")
    else:
        cluster.ready("mounts")


def test_handler_of_a_runtime_class_runs_the_pod(cluster: Cluster) -> None:
    for name, handler in (("ours", "runc"), ("other", "missing")):
        runtime_class = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": handler}
        cluster.kubectl.apply(json.dumps({**runtime_class, "metadata": {"name": name}}))
    cluster.kubectl.apply(manifest("ours", "sleep 1000", spec={"runtimeClassName": "ours"}))
    cluster.kubectl.apply(manifest("other", "sleep 1000", spec={"runtimeClassName": "other"}))
    cluster.ready("ours")
    selector = "reason=FailedCreatePodSandBox,involvedObject.name=other"
    events = ("get", "events", "--field-selector", selector)
    cluster.until(lambda: "missing" in cluster.kubectl(*events), "the event of the missing handler")


def test_job_that_fails_is_retried(cluster: Cluster) -> None:
    template = json.loads(manifest("x", "echo wrong > /dev/termination-log; exit 4"))["spec"] | {
        "restartPolicy": "Never"
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "failing"}}
    cluster.kubectl.apply(json.dumps({**job, "spec": {"backoffLimit": 1, "template": {"spec": template}}}))
    cluster.kubectl("wait", "--for=condition=Failed", "job/failing", "--timeout=40s")
    pods = cluster.kubectl.get("pods", "-l", "job-name=failing")["items"]
    messages = [each["status"]["containerStatuses"][0]["state"]["terminated"]["message"] for each in pods]
    assert messages == ["wrong\n", "wrong\n"]


def test_malformed_and_missing_images_are_reported(cluster: Cluster) -> None:
    cluster.kubectl.apply(manifest("absent", "true", image="registry.test/absent:1", imagePullPolicy="Never"))
    cluster.kubectl.apply(manifest("malformed", "true", image="NOT//valid"))
    for name, reason in (("absent", "ErrImageNeverPull"), ("malformed", "InvalidImageName")):

        def waits(name: str = name, reason: str = reason) -> bool:
            waiting = cluster.container(name).get("state", {}).get("waiting", {})
            return bool(waiting.get("reason") == reason)

        cluster.until(waits, reason)


def test_restart_of_agent_or_runtime_restarts_no_container(cluster: Cluster, web: str) -> None:
    cluster.kubectl.apply(manifest("doomed", "sleep 1000"))
    cluster.ready("doomed")
    before = cluster.container(web)
    for pid in cluster.agent_pids():
        cluster.machine.run("kill", "-9", pid)
    cluster.kubectl("delete", "pod", "doomed", "--timeout=40s")
    assert cluster.container(web)["containerID"] == before["containerID"]
    since = ready_since(cluster.pod(web))
    cluster.containerd.restart()
    cluster.kubectl.apply(manifest("later", "sleep 1000"))
    cluster.ready("later", web)
    assert (cluster.container(web), ready_since(cluster.pod(web))) == (before, since)
