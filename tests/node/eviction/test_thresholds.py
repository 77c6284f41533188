"""Options of evictions."""

import pytest

from sampan.node.eviction.thresholds import HARD, Threshold, eviction_thresholds


def test_default_thresholds_are_those_of_the_kubelet() -> None:
    assert eviction_thresholds(HARD, "", "") == (
        Threshold("memory.available", 100 * 2**20),
        Threshold("nodefs.available", percent=10.0),
        Threshold("nodefs.inodesFree", percent=5.0),
        Threshold("imagefs.available", percent=15.0),
        Threshold("imagefs.inodesFree", percent=5.0),
    )


def test_soft_threshold_has_a_grace_period() -> None:
    found = eviction_thresholds("", "memory.available<1Gi", "memory.available=1m30s")
    assert found == (Threshold("memory.available", 2**30, grace_s=90.0),)


@pytest.mark.parametrize("hard", ["", "pid.available<0%", "pid.available<100%"], ids=["empty", "0 %", "100 %"])
def test_threshold_can_be_disabled(hard: str) -> None:
    assert eviction_thresholds(hard, "", "") == ()


def test_percentage_is_of_the_capacity() -> None:
    assert Threshold("nodefs.available", percent=10.0).of(500) == 50


@pytest.mark.parametrize(
    ("hard", "soft", "grace", "text"),
    [
        ("memory<1Gi", "", "", "--eviction-hard: unsupported eviction signal memory: expected one of memory.available"),
        ("memory.available=1Gi", "", "", "--eviction-hard: 'memory.available=1Gi' is not SIGNAL<QUANTITY"),
        ("memory.available<lots", "", "", "--eviction-hard: memory.available: 'lots' is neither a quantity nor"),
        ("memory.available<-1Gi", "", "", "--eviction-hard: eviction threshold memory.available must be positive"),
        ("pid.available<120%", "", "", "eviction percentage threshold pid.available must be between 0% and 100%: 120%"),
        ("pid.available<1,pid.available<2", "", "", "duplicate eviction threshold for pid.available"),
        ("", "pid.available<1", "", "grace period must be specified for the soft eviction threshold pid.available"),
        ("", "", "pid.available=soon", "--eviction-soft-grace-period: pid.available: time: invalid duration"),
        ("", "", "pid.available=-1s", "invalid eviction grace period specified: -1s, must be a positive value"),
    ],
)
def test_malformed_option_is_refused_with_its_name(hard: str, soft: str, grace: str, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        eviction_thresholds(hard, soft, grace)
    assert text in str(caught.value)
