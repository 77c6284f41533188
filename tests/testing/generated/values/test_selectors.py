"""Selectors of generated objects: their conditions are valid, and the labels of the Pods fit them."""

from typing import Any

import pytest
from hypothesis import find
from hypothesis import strategies as st

from sampan.core.label_selectors import selector_from_label_selector
from sampan.testing.generated import objects, subject_of
from sampan.testing.generated.choices import Seeded
from sampan.testing.generated.fitting import fit_labels
from sampan.testing.generated.repair import generated_object, smallest_object
from sampan.testing.generated.strategies import Drawn, DrawnAtOnce, drawn
from sampan.testing.generated.values.selectors import requirement


def workload(*conditions: dict[str, Any], **labels: str) -> dict[str, Any]:
    """Return a workload with the Pod label `app: web` and these conditions."""
    selector: dict[str, Any] = {"matchLabels": {"app": "web", **labels}, "matchExpressions": list(conditions)}
    return {"spec": {"selector": selector, "template": {"metadata": {"labels": {"app": "web"}}}}}


@pytest.mark.parametrize(
    ("condition", "labels"),
    [
        ({"key": "tier", "operator": "In", "values": ["a", "b"]}, {"app": "web", "tier": "a"}),
        ({"key": "tier", "operator": "Exists"}, {"app": "web", "tier": ""}),
        ({"key": "tier", "operator": "DoesNotExist"}, {"app": "web"}),
        ({"key": "tier", "operator": "NotIn", "values": ["a"]}, {"app": "web"}),
        ({"key": "app", "operator": "DoesNotExist"}, {"app": "web"}),
        ({"key": "app", "operator": "In", "values": ["db"]}, {"app": "web"}),
    ],
    ids=["in", "exists", "absent", "not-in", "contradiction", "other-value"],
)
def test_pods_get_the_labels_that_a_selector_demands(condition: dict[str, Any], labels: dict[str, str]) -> None:
    body = workload(condition)
    fit_labels(body)
    assert body["spec"]["template"]["metadata"]["labels"] == labels
    assert selector_from_label_selector(body["spec"]["selector"]).matches(labels)


def test_deployments_keep_conditions_in_their_selectors() -> None:
    subject = subject_of("Deployment")
    base = smallest_object(subject)
    made = [generated_object(subject, Seeded(number), base) for number in range(50)]
    assert sum("matchExpressions" in each["spec"]["selector"] for each in made) >= 5


def test_a_condition_has_values_only_with_an_operator_that_takes_some() -> None:
    for number in range(50):
        made = requirement(Seeded(number))
        assert ("values" in made) is (made["operator"] in ("In", "NotIn"))


def test_choices_without_strategies_are_shrunk() -> None:
    @st.composite
    def numbers(draw: st.DrawFn) -> tuple[int, bool]:
        choices = drawn(draw)
        assert isinstance(choices, DrawnAtOnce)
        return choices.integer(5, 1000), choices.optional()

    assert find(numbers(), lambda each: each[0] >= 70) == (70, False)
    assert find(numbers(), lambda each: each[1]) == (5, True)


def test_choices_are_made_by_strategies_if_hypothesis_has_no_other_way() -> None:
    @st.composite
    def numbers(draw: st.DrawFn) -> tuple[int, bool, str]:
        choices = Drawn(draw)
        return choices.integer(5, 1000), choices.optional(), choices.text(1, 3)

    assert find(numbers(), lambda each: each[0] >= 70) == (70, False, "a")


def test_objects_are_still_shrunk_to_the_simplest_one() -> None:
    found = find(objects("Deployment"), lambda obj: (obj["spec"].get("minReadySeconds") or 0) >= 7)
    assert found["spec"]["minReadySeconds"] == 7
