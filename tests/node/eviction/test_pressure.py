"""Pressure of a node, pass by pass."""

from sampan.node.eviction.meter import memory_of
from sampan.node.eviction.pressure import Pressure, SignalValue, advanced, reclaims_disk
from sampan.node.eviction.thresholds import EvictionPolicy, Threshold

HARD = Threshold("memory.available", 100)
SOFT = Threshold("memory.available", 200, grace_s=30.0)
DISK = Threshold("nodefs.available", percent=10.0)
POLICY = EvictionPolicy((DISK, SOFT, HARD))


def memory(available: int) -> dict[str, SignalValue]:
    return {"memory.available": SignalValue(available, 1000)}


def test_hard_threshold_is_due_at_once() -> None:
    found = advanced(Pressure(), memory(99), POLICY, 0.0)
    assert (found.due, found.conditions) == ((HARD,), frozenset({"MemoryPressure"}))


def test_amount_at_the_threshold_is_enough() -> None:
    assert advanced(Pressure(), memory(200), POLICY, 0.0) == Pressure()


def test_soft_threshold_is_due_after_its_grace_period() -> None:
    first = advanced(Pressure(), memory(150), POLICY, 0.0)
    second = advanced(first, memory(150), POLICY, 29.0)
    third = advanced(second, memory(150), POLICY, 30.0)
    assert (first.due, second.due, third.due) == ((), (), (SOFT,))
    assert first.conditions == {"MemoryPressure"}


def test_interruption_starts_the_grace_period_again() -> None:
    state = advanced(Pressure(), memory(150), POLICY, 0.0)
    state = advanced(state, memory(500), POLICY, 20.0)
    assert advanced(state, memory(150), POLICY, 40.0).due == ()


def test_condition_stays_for_the_transition_period() -> None:
    state = advanced(Pressure(), memory(50), POLICY, 0.0)
    assert advanced(state, memory(500), POLICY, 299.0).conditions == {"MemoryPressure"}
    assert advanced(state, memory(500), POLICY, 300.0).conditions == set()


def test_memory_goes_before_disk() -> None:
    signals = {**memory(50), "nodefs.available": SignalValue(9, 100)}
    found = advanced(Pressure(), signals, POLICY, 0.0)
    assert (found.due, found.conditions) == ((HARD, DISK), frozenset({"MemoryPressure", "DiskPressure"}))


def test_signal_that_cannot_be_read_meets_no_threshold() -> None:
    assert advanced(Pressure(), {}, POLICY, 0.0).due == ()


def test_images_do_not_help_a_disk_that_they_are_not_on() -> None:
    assert reclaims_disk("nodefs.available", has_image_disk=False)
    assert not reclaims_disk("nodefs.available", has_image_disk=True)
    assert reclaims_disk("imagefs.available", has_image_disk=True)
    assert not reclaims_disk("memory.available", has_image_disk=False)


def test_available_memory_includes_inactive_files() -> None:
    text = "MemTotal:  100 kB\nMemFree:  10 kB\nActive(file): 7 kB\nInactive(file): 5 kB\nHugePages_Total: 0\n"
    assert memory_of(text) == SignalValue(15 * 1024, 100 * 1024)
