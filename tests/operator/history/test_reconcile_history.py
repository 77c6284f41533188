"""The bounded history of reconciles."""

from sampan.operator.history.reconcile_attempt import ReconcileAttempt
from sampan.operator.history.reconcile_history import RECORDS_MAX, ReconcileHistory, ReconcileRate
from sampan.operator.request import Request


def attempt(error: str = "") -> ReconcileAttempt:
    return ReconcileAttempt("id", 1.0, 0.5, 0.0, error, 2.0 if error else None)


def key(name: str) -> tuple[str, Request]:
    return "boat", Request("default", name)


def test_an_object_has_its_last_records() -> None:
    history = ReconcileHistory()
    for _ in range(RECORDS_MAX + 5):
        history.add(key("ada"), attempt())
    found = history.of(key("ada"))
    assert found is not None
    assert (len(found.records), found.total) == (RECORDS_MAX, RECORDS_MAX + 5)


def test_attempts_count_since_the_last_success() -> None:
    history = ReconcileHistory()
    assert history.next_attempt(key("ada")) == 1
    for _ in range(3):
        history.add(key("ada"), attempt("OSError"))
    assert history.next_attempt(key("ada")) == 4
    history.add(key("ada"), attempt())
    assert history.next_attempt(key("ada")) == 1


def test_successes_push_out_no_failing_object() -> None:
    history = ReconcileHistory(objects_max=3)
    history.add(key("broken"), attempt("OSError"))
    for number in range(10):
        history.add(key(str(number)), attempt())
    names = [request.name for (_, request), _ in history]
    assert names == ["broken", "9", "8", "7"]


def test_an_object_that_recovers_is_no_longer_first() -> None:
    history = ReconcileHistory()
    history.add(key("ada"), attempt("OSError"))
    history.add(key("bob"), attempt("OSError"))
    history.add(key("ada"), attempt())
    assert [request.name for (_, request), _ in history] == ["bob", "ada"]
    assert len(history) == 2


def test_results_are_named() -> None:
    assert attempt().result == "success"
    assert attempt("OSError").result == "error"
    assert attempt("OSError")._replace(next_s=None).result == "terminal-error"
    assert attempt()._replace(next_s=5.0).result == "requeue-after"


def test_a_rate_covers_the_last_minute() -> None:
    rate = ReconcileRate()
    for second in range(60):
        rate.count(1000.0 + second, failed=second % 2 == 0)
    assert rate.per_second(1059.0) == (1.0, 0.5)
    assert rate.per_second(1200.0) == (0.0, 0.0)
    assert (rate.total, rate.failed) == (60, 30)
