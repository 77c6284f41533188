"""Rules that cover others, and how they are shown."""

from typing import Any

import pytest

from sampan.core.policy_rules import UNCOVERED_MAX, compact_text, compacted, uncovered
from tests.server.authorization.caches import paths, rule

COVERS = [
    pytest.param(rule("*", "*", "*"), rule("get", "apps", "deployments/scale"), True, id="all"),
    pytest.param(rule("get list", "core", "pods"), rule("get", "core", "pods"), True, id="more verbs"),
    pytest.param(rule("get", "core", "pods"), rule("*", "core", "pods"), False, id="all verbs are wanted"),
    pytest.param(rule("get", "core", "*/scale"), rule("get", "core", "pods/scale"), True, id="a subresource of all"),
    pytest.param(rule("get", "core", "*/scale"), rule("get", "core", "pods"), False, id="not the thing itself"),
    pytest.param(rule("get", "core", "pods"), rule("get", "core", "pods/log"), False, id="not its subresources"),
    pytest.param(rule("get", "core", "pods"), rule("get", "core", "pods", ["a"]), True, id="one name of all"),
    pytest.param(rule("get", "core", "pods", ["a"]), rule("get", "core", "pods"), False, id="all names of one"),
    pytest.param(rule("get", "core", "pods", ["a", "b"]), rule("get", "core", "pods", ["b"]), True, id="one of two"),
    pytest.param(paths("get", "/healthz*"), paths("get", "/healthz/etcd"), True, id="paths below"),
    pytest.param(paths("get", "/healthz"), paths("get", "/healthz*"), False, id="paths beyond"),
    pytest.param(paths("get", "*"), paths("get", "*"), True, id="all paths"),
    pytest.param(rule("*", "*", "*"), paths("get", "/"), False, id="resources are no paths"),
]


@pytest.mark.parametrize(("owned", "desired", "covered"), COVERS)
def test_a_rule_covers_another(owned: dict[str, Any], desired: dict[str, Any], covered: bool) -> None:
    assert (uncovered([owned], [desired]) == []) is covered


def test_several_rules_may_cover_one_together() -> None:
    owned = [rule("get", "core", "pods"), rule("list", "core", "*")]
    assert uncovered(owned, [rule("get list", "core", "pods")]) == []


def test_missing_rights_are_reported_in_few_lines() -> None:
    lacking = uncovered(
        [], [rule("get list", "core apps", "pods"), paths("get", "/x"), rule("get", "core", "x", ["n"])]
    )
    assert sorted(map(compact_text, compacted(lacking))) == [
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["x"], ResourceNames:["n"], Verbs:["get"]}',
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ]


def test_rules_with_billions_of_parts_are_compared_in_bounded_work() -> None:
    names = [str(index) for index in range(10_000)]
    wide = {"apiGroups": names, "resources": names, "verbs": names}
    assert len(uncovered([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get"]}], [wide])) == UNCOVERED_MAX


def test_rules_that_one_rule_covers_are_not_taken_apart() -> None:
    names = [str(index) for index in range(10_000)]
    wide = {"apiGroups": names, "resources": names, "verbs": names}
    assert uncovered([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}], [wide]) == []
