"""A memory that is bounded by number and by time."""

from sampan.core.recent import Recent


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_value_is_remembered() -> None:
    recent: Recent[str, int] = Recent(4, 60)
    recent.put("a", 1)
    assert (recent.get("a"), recent.get("b")) == (1, None)


def test_the_number_is_bounded_and_what_is_used_stays() -> None:
    recent: Recent[object, int] = Recent(4, 60)
    recent.put("kept", 1)
    for number in range(100):
        recent.put(number, number)
        assert recent.get("kept") == 1
    assert len(recent) <= 8


def test_what_is_not_used_for_two_ages_is_forgotten() -> None:
    clock = Clock()
    recent: Recent[str, int] = Recent(1000, 60, clock)
    recent.put("a", 1)
    for _ in range(3):
        clock.now += 61
        recent.put("b", 2)
    assert recent.get("a") is None
    assert recent.get("b") == 2


def test_what_is_used_is_not_forgotten_over_time() -> None:
    clock = Clock()
    recent: Recent[str, int] = Recent(1000, 60, clock)
    recent.put("a", 1)
    for number in range(10):
        clock.now += 61
        recent.put(f"b{number}", number)
        assert recent.get("a") == 1


def test_clear_forgets_both_generations() -> None:
    clock = Clock()
    recent: Recent[str, int] = Recent(1000, 60, clock)
    recent.put("a", 1)
    clock.now += 61
    recent.put("b", 2)
    recent.clear()
    assert len(recent) == 0
    assert recent.get("a") is None
