"""The strategy of valid objects: a server accepts each one, and they differ."""

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from sampan.testing import Cluster, run_virtual
from sampan.testing.generated import USUAL, NeedsHypothesis, companions, objects, subject_of
from sampan.testing.generated.choices import Seeded, pick
from sampan.testing.generated.values.patterns import NoText, matching, not_matching
from tests.properties import examples
from tests.resource.kinds import Boat
from tests.testing.generated.crds import CRDS, FILES, TEXT, crd, fields

BUILT_IN = ("Deployment", "Service", "ConfigMap", "CronJob", "Ingress", "Pod", "NetworkPolicy", "Role")


@pytest.mark.parametrize("name", CRDS)
@settings(max_examples=examples(40))
@given(st.data())
def test_each_object_of_a_crd_is_valid(name: str, data: st.DataObject) -> None:
    made = data.draw(objects(CRDS[name]))
    assert subject_of(CRDS[name]).faults(made) == []


@pytest.mark.parametrize("name", BUILT_IN)
@settings(max_examples=examples(15))
@given(st.data())
def test_each_object_of_a_built_in_kind_is_valid(name: str, data: st.DataObject) -> None:
    assert subject_of(name).faults(data.draw(objects(name))) == []


@settings(max_examples=examples(40))
@given(objects(Boat))
def test_each_object_of_a_declared_class_is_valid(boat: dict[str, Any]) -> None:
    assert subject_of(Boat).faults(boat) == []


@pytest.mark.parametrize("name", [*CRDS, *BUILT_IN])
@settings(max_examples=examples(3))
@given(st.data())
def test_a_server_accepts_the_objects(name: str, data: st.DataObject) -> None:
    what = CRDS.get(name, name)
    made = data.draw(st.lists(objects(what), min_size=5, max_size=5))

    async def create() -> None:
        async with Cluster() as cluster:
            if name in CRDS:
                await cluster.crds(CRDS[name])
            for number, each in enumerate(made):
                await cluster.create({**each, "metadata": {**each["metadata"], "name": f"o{number}"}})

    run_virtual(create())


@pytest.mark.parametrize("name", CRDS)
def test_most_objects_differ(name: str) -> None:
    found: list[str] = []

    @settings(max_examples=100, database=None, derandomize=True)
    @given(objects(CRDS[name]))
    def collect(made: dict[str, Any]) -> None:
        found.append(repr(made))

    collect()
    assert len(set(found)) > len(found) / 3


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_crd_is_read_from_its_file(file: Path) -> None:
    assert find(objects(file), lambda made: True)["kind"] in ("Network", "Guestbook")


def test_a_failing_object_shrinks() -> None:
    made = find(objects(CRDS["numbers"]), lambda made: made["spec"].get("wide", 0) > 7)
    assert made["spec"] == {"small": 3, "wide": 8}


def test_a_field_of_a_known_name_has_a_value_with_a_meaning() -> None:
    schema = crd(fields("image", "schedule", "passwordSecret", image=TEXT, schedule=TEXT, passwordSecret=TEXT))
    spec = find(objects(schema), lambda made: True)["spec"]
    assert spec["image"].startswith("registry.example.com/")
    assert spec["schedule"].split()[1:] == ["*"] * 4
    (secret,) = companions({"spec": spec})
    assert (secret["kind"], secret["metadata"]["name"]) == ("Secret", spec["passwordSecret"])


def test_a_test_adds_a_meaning() -> None:
    meanings = USUAL.with_field("region", lambda choices: pick(choices, ("eu", "us")))
    found = find(objects(crd(fields("region", region=TEXT)), meanings=meanings), lambda made: True)
    assert found["spec"] == {"region": "eu"}


@pytest.mark.parametrize("pattern", ["^[a-z]+$", r"^\d{3}-[A-F]{2}$", "(?i)^abc$", "^(a|bc)*$", "x", "", r"^\S+@\S+$"])
@pytest.mark.parametrize("seed", range(5))
def test_a_text_matches_its_pattern(pattern: str, seed: int) -> None:
    assert matching(pattern, Seeded(seed)) is not None
    text = not_matching(pattern)
    assert text is None or pattern


def test_a_pattern_without_texts_is_an_error() -> None:
    with pytest.raises(NoText):
        matching("^a$b", Seeded(0))


def test_without_hypothesis_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "sampan.testing.generated.strategies", raising=False)
    with pytest.raises(NeedsHypothesis, match=r"pip install 'sampan\[testing\]'"):
        objects("Deployment")
