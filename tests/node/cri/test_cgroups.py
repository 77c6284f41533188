"""Cgroups of Pods, in directories that stand for the hierarchies of v1 and v2."""

from pathlib import Path
from typing import Any

import pytest

from sampan.node.cri.cgroups import PodCgroups, missing_controllers
from sampan.node.views.pod import Pod
from tests.node.scripted import detailed

PATH = "/kubepods/podx"


def pod(cpu: str = "500m", memory: str = "64Mi", **spec: Any) -> Pod:
    amounts = {"cpu": cpu, "memory": memory}
    return detailed({"name": "main", "resources": {"requests": amounts, "limits": amounts}}, **spec)


def v1(root: Path) -> PodCgroups:
    for name in ("cpu", "memory"):
        (root / name).mkdir()
    return PodCgroups(root)


def v2(root: Path) -> PodCgroups:
    (root / "cgroup.controllers").write_text("cpu memory pids")
    return PodCgroups(root)


def read(root: Path, *names: str) -> list[str]:
    return [(root / name).read_text() for name in names]


def test_limits_of_a_pod_in_v1(tmp_path: Path) -> None:
    v1(tmp_path).make(PATH, pod())
    cpu = [f"cpu{PATH}/cpu.{name}" for name in ("shares", "cfs_quota_us", "cfs_period_us")]
    found = read(tmp_path, *cpu, f"memory{PATH}/memory.limit_in_bytes")
    assert found == ["512", "50000", "100000", str(64 << 20)]


def test_limits_of_a_pod_in_v2(tmp_path: Path) -> None:
    v2(tmp_path).make(PATH, pod())
    found = read(tmp_path, f"kubepods{PATH[9:]}/cpu.weight", f"{PATH[1:]}/cpu.max", f"{PATH[1:]}/memory.max")
    assert found == ["20", "50000 100000", str(64 << 20)]


def test_overhead_of_the_runtime_class_is_added(tmp_path: Path) -> None:
    v1(tmp_path).make(PATH, pod(overhead={"cpu": "250m", "memory": "16Mi"}))
    found = read(tmp_path, f"cpu{PATH}/cpu.shares", f"cpu{PATH}/cpu.cfs_quota_us")
    assert found == ["768", "75000"]
    assert read(tmp_path, f"memory{PATH}/memory.limit_in_bytes") == [str(80 << 20)]


@pytest.mark.parametrize("version", [v1, v2])
def test_limits_are_raised_first_and_lowered_at_the_end(tmp_path: Path, version: Any) -> None:
    cgroups = version(tmp_path)
    cgroups.make(PATH, pod("500m", "64Mi"))
    changed = pod("1", "32Mi")
    cpu, memory = ("cpu.max", "memory.max") if version is v2 else ("cpu.cfs_quota_us", "memory.limit_in_bytes")
    places = [PATH[1:], PATH[1:]] if version is v2 else [f"cpu{PATH}", f"memory{PATH}"]
    files = f"{places[0]}/{cpu}", f"{places[1]}/{memory}"
    cgroups.update(PATH, changed, only_raise=True)
    assert [text.split()[0] for text in read(tmp_path, *files)] == ["100000", str(64 << 20)]
    cgroups.update(PATH, changed, only_raise=False)
    assert [text.split()[0] for text in read(tmp_path, *files)] == ["100000", str(32 << 20)]


def test_a_cgroup_without_a_limit_keeps_it_while_limits_are_only_raised(tmp_path: Path) -> None:
    cgroups = v2(tmp_path)
    cgroups.make(PATH, pod())
    (tmp_path / PATH[1:] / "memory.max").write_text("max\n")
    cgroups.update(PATH, pod(), only_raise=True)
    assert read(tmp_path, f"{PATH[1:]}/memory.max") == ["max\n"]


def limited(cpu: str, memory: str, **more: Any) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": memory}
    return {"name": "init", "image": "app:1", "resources": {"requests": amounts, "limits": amounts}, **more}


def memory_max(root: Path, pod: Pod) -> list[str]:
    v2(root).make(PATH, pod)
    return read(root, f"{PATH[1:]}/cpu.max", f"{PATH[1:]}/memory.max")


def test_a_pod_may_use_the_limit_of_an_init_container_that_is_larger(tmp_path: Path) -> None:
    assert memory_max(tmp_path, pod(initContainers=[limited("2", "1Gi")])) == ["200000 100000", str(1 << 30)]


def test_limits_of_sidecars_are_added(tmp_path: Path) -> None:
    sidecar = limited("250m", "16Mi", restartPolicy="Always")
    assert memory_max(tmp_path, pod(initContainers=[sidecar])) == ["75000 100000", str(80 << 20)]


def test_limits_of_the_pod_replace_those_of_its_containers(tmp_path: Path) -> None:
    unlimited: dict[str, Any] = {"name": "main"}
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}}
    assert memory_max(tmp_path, detailed(unlimited, resources=resources)) == ["100000 100000", str(1 << 30)]


def test_an_init_container_without_a_limit_makes_the_pod_unlimited(tmp_path: Path) -> None:
    v2(tmp_path).make(PATH, pod(initContainers=[{"name": "init", "image": "app:1"}]))
    assert [each.name for each in (tmp_path / PATH[1:]).iterdir()] == ["cpu.weight"]


def test_requests_of_the_pod_set_its_share_of_cpus(tmp_path: Path) -> None:
    v1(tmp_path).make(PATH, detailed({"name": "main"}, resources={"requests": {"cpu": "2"}}))
    assert read(tmp_path, f"cpu{PATH}/cpu.shares") == ["2048"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"cgroup.controllers": "cpuset cpu io memory pids\n"}, ""),
        ({"cgroup.controllers": "cpuset cpu io\n"}, "missing required cgroups: memory, pids"),
        ({"cpu,cpuacct/tasks": "", "memory/tasks": "", "pids/tasks": ""}, ""),
        ({"cpu,cpuacct/tasks": ""}, "missing required cgroups: memory, pids"),
    ],
    ids=["v2", "v2 without memory", "v1", "v1 without memory"],
)
def test_missing_controllers_are_named(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert missing_controllers(tmp_path) == problem
