"""Lessons that the validation of a built-in kind gives: they make most of its objects valid at once."""

import pytest
from hypothesis import find

from sampan.testing.generated import objects, subject_of
from sampan.testing.generated.choices import Seeded
from sampan.testing.generated.framing import framed_object
from sampan.testing.generated.learning import lessons_of
from sampan.testing.generated.lessons import Lessons
from sampan.testing.generated.repair import smallest_object
from sampan.testing.generated.values.semantics import USUAL, built_in

MEANINGS = built_in(USUAL)


def lessons(kind: str) -> Lessons:
    subject = subject_of(kind)
    return lessons_of(subject, smallest_object(subject), MEANINGS)


def named(kind: str) -> dict[str, list[str]]:
    """Return the supported values of a kind by the short names of the type and of the field."""
    return {f"{node.name.rsplit('.', 1)[-1]}.{name}": list(each) for (node, name), each in lessons(kind).values.items()}


def test_supported_values_are_learned_from_one_object() -> None:
    found = named("Deployment")
    assert found["Container.imagePullPolicy"] == ["Always", "IfNotPresent", "Never"]
    assert found["DeploymentStrategy.type"] == ["Recreate", "RollingUpdate"]


def test_a_field_that_is_always_refused_is_learned() -> None:
    assert "nonResourceURLs" in {name for _, name in lessons("Role").never}


def test_unions_are_learned() -> None:
    assert {"Volume", "EnvVarSource", "Probe"} <= {node.name.rsplit(".", 1)[-1] for node in lessons("Pod").unions}


def test_lessons_of_a_kind_are_always_the_same() -> None:
    assert lessons("Service") is lessons("Service")


@pytest.mark.parametrize(("kind", "least"), [("Deployment", 120), ("Pod", 100), ("NetworkPolicy", 170), ("Role", 160)])
def test_most_objects_need_no_repair(kind: str, least: int) -> None:
    subject = subject_of(kind)
    base = smallest_object(subject)
    made = [framed_object(subject, Seeded(number), base, MEANINGS, 60, lessons(kind)) for number in range(200)]
    assert sum(not subject.faults(each) for each in made) >= least


def test_containers_get_further_fields() -> None:
    found = find(objects("Pod"), lambda obj: "env" in obj["spec"]["containers"][0])
    assert found["spec"]["containers"][0]["image"] == "registry.example.com/app:1"
