"""Match tolerations with taints."""

import pytest

from sampan.core.pods.tolerations import NO_EXECUTE, Taint, Toleration, tolerates, untolerated, with_toleration

TAINT = Taint("k", "5", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        (Toleration("k", "Equal", "5", "NoSchedule"), True),
        (Toleration("k", "", "5"), True),
        (Toleration("k", "Equal", "6"), False),
        (Toleration("k", "Exists"), True),
        (Toleration(operator="Exists"), True),
        (Toleration("other", "Exists"), False),
        (Toleration("k", "Exists", effect="NoExecute"), False),
        (Toleration("k", "Lt", "6"), True),
        (Toleration("k", "Lt", "5"), False),
        (Toleration("k", "Gt", "4"), True),
        (Toleration("k", "Gt", "x"), False),
        (Toleration("k", "In", "5"), False),
    ],
    ids=str,
)
def test_toleration_matches_a_taint(toleration: Toleration, expected: bool) -> None:
    assert tolerates(toleration, TAINT) is expected


def test_prefer_no_schedule_does_not_keep_pods_off() -> None:
    assert untolerated([], [Taint("k", "", "PreferNoSchedule")]) is None


def test_first_hard_taint_that_is_not_tolerated_is_returned() -> None:
    taints = [Taint("a", "", "NoSchedule"), Taint("b", "", "NoExecute")]
    assert untolerated([], taints) == taints[0]
    assert untolerated([Toleration("a", "Exists")], taints) == taints[1]
    assert untolerated([], taints, [NO_EXECUTE]) == taints[1]


def test_unlimited_toleration_replaces_a_limited_one() -> None:
    short = Toleration("k", "Exists", "", "NoExecute", 300)
    other = Toleration("j", "Exists")
    for_ever = Toleration("k", "Exists", "", "NoExecute")
    assert with_toleration([short, other], for_ever) == [for_ever, other]
    assert with_toleration([other], for_ever) == [other, for_ever]
