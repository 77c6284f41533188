"""Cache limited by number and by time."""

from sampan.core.recent import Recent


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_value_is_kept() -> None:
    recent: Recent[str, int] = Recent(4, 60)
    recent.put("a", 1)
    assert (recent.get("a"), recent.get("b")) == (1, None)


def test_number_of_values_is_limited_and_used_values_are_kept() -> None:
    recent: Recent[object, int] = Recent(4, 60)
    recent.put("kept", 1)
    for number in range(100):
        recent.put(number, number)
        assert recent.get("kept") == 1
    assert len(recent) <= 8


def test_value_not_used_for_two_ages_is_evicted() -> None:
    clock = Clock()
    recent: Recent[str, int] = Recent(1000, 60, clock)
    recent.put("a", 1)
    for _ in range(3):
        clock.now += 61
        recent.put("b", 2)
    assert recent.get("a") is None
    assert recent.get("b") == 2


def test_used_value_is_not_evicted_over_time() -> None:
    clock = Clock()
    recent: Recent[str, int] = Recent(1000, 60, clock)
    recent.put("a", 1)
    for number in range(10):
        clock.now += 61
        recent.put(f"b{number}", number)
        assert recent.get("a") == 1


def test_clear_removes_both_generations() -> None:
    clock = Clock()
    recent: Recent[str, int] = Recent(1000, 60, clock)
    recent.put("a", 1)
    clock.now += 61
    recent.put("b", 2)
    recent.clear()
    assert len(recent) == 0
    assert recent.get("a") is None
