"""`BookmarkTimes`: watches share the times of their bookmarks."""

from collections import Counter

from sampan.server.verbs.bookmark_times import JITTER, PERIOD_S, TOGETHER_MAX, BookmarkTimes


def test_a_bookmark_follows_after_about_a_period() -> None:
    times = BookmarkTimes()
    for now in range(500):
        assert PERIOD_S * (1 - JITTER) <= times.after(now / 7) - now / 7 <= PERIOD_S * (1 + JITTER)


def test_watches_that_begin_together_share_times_in_groups() -> None:
    times = BookmarkTimes()
    groups = Counter(times.after(5.25) for _ in range(4 * TOGETHER_MAX))
    assert len(groups) <= 4
    assert all(size % TOGETHER_MAX == 0 for size in groups.values())


def test_watches_of_one_time_stay_together() -> None:
    times = BookmarkTimes()
    at = times.after(0.5)
    assert len({times.after(at) for _ in range(TOGETHER_MAX)}) == 1
