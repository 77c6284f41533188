"""Resources of containers in CRI's terms."""

import pytest

from sampan.node.cri.configuration.resources import cpu_quota_us, cpu_shares, linux_resources, oom_score
from sampan.node.views.container import ResourceRequirements

GIB = 1 << 30


@pytest.mark.parametrize(
    ("cpu_m", "shares"), [(0, 2), (1, 2), (100, 102), (1000, 1024), (2500, 2560), (1_000_000, 262_144)]
)
def test_cpu_request_becomes_shares(cpu_m: int, shares: int) -> None:
    assert cpu_shares(cpu_m) == shares


@pytest.mark.parametrize(("limit_m", "quota"), [(0, 0), (1, 1000), (200, 20_000), (1500, 150_000)])
def test_cpu_limit_becomes_a_quota(limit_m: int, quota: int) -> None:
    assert cpu_quota_us(limit_m) == quota


@pytest.mark.parametrize(
    ("qos_class", "memory", "score"),
    [
        ("Guaranteed", GIB, -997),
        ("BestEffort", 0, 1000),
        ("Burstable", 0, 999),
        ("Burstable", 2 * GIB, 750),
        ("Burstable", 8 * GIB, 3),
    ],
)
def test_oom_score_follows_qos_class_and_memory_request(qos_class: str, memory: int, score: int) -> None:
    assert oom_score(qos_class, memory, 8 * GIB) == score


def test_resources_of_a_container() -> None:
    resources = ResourceRequirements(requests={"cpu": "100m"}, limits={"cpu": "500m", "memory": "64Mi"})
    found = linux_resources(resources, oom_score=999)
    assert (found.cpu_period, found.cpu_quota, found.cpu_shares) == (100_000, 50_000, 102)
    assert (found.memory_limit_in_bytes, found.oom_score_adj) == (64 << 20, 999)


def test_limit_stands_in_for_a_missing_request() -> None:
    assert linux_resources(ResourceRequirements(limits={"cpu": "2"}), oom_score=0).cpu_shares == 2048
