"""Match Nodes with node selectors."""

import pytest

from sampan.core.pods.node_affinity import NodeRequirement, NodeSelector, NodeTerm, named_node, selects

LABELS = {"zone": "a", "cpus": "8"}


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (NodeRequirement("zone", "In", ("a", "b")), True),
        (NodeRequirement("zone", "In", ("b",)), False),
        (NodeRequirement("none", "In", ("a",)), False),
        (NodeRequirement("zone", "NotIn", ("b",)), True),
        (NodeRequirement("none", "NotIn", ("b",)), True),
        (NodeRequirement("zone", "NotIn", ("a",)), False),
        (NodeRequirement("zone", "Exists"), True),
        (NodeRequirement("none", "Exists"), False),
        (NodeRequirement("none", "DoesNotExist"), True),
        (NodeRequirement("cpus", "Gt", ("4",)), True),
        (NodeRequirement("cpus", "Gt", ("8",)), False),
        (NodeRequirement("cpus", "Lt", ("9",)), True),
        (NodeRequirement("zone", "Lt", ("9",)), False),
        (NodeRequirement("none", "Gt", ("1",)), False),
        (NodeRequirement("zone", "Like", ("a",)), False),
    ],
    ids=str,
)
def test_condition_on_a_label_matches(requirement: NodeRequirement, expected: bool) -> None:
    assert selects(NodeSelector((NodeTerm((requirement,)),)), "n", LABELS) is expected


def test_all_conditions_of_a_term_must_match_and_one_term_is_enough() -> None:
    zone, name = NodeRequirement("zone", "In", ("a",)), NodeRequirement("metadata.name", "In", ("n",))
    both = NodeTerm((zone,), (name,))
    assert selects(NodeSelector((both,)), "n", LABELS)
    assert not selects(NodeSelector((both,)), "m", LABELS)
    assert selects(NodeSelector((both, NodeTerm((zone,)))), "m", LABELS)


def test_empty_term_matches_no_node() -> None:
    assert not selects(NodeSelector((NodeTerm(),)), "n", LABELS)
    assert not selects(NodeSelector(), "n", LABELS)


@pytest.mark.parametrize(
    ("values", "expected"), [(("n",), "n"), (("n", "m"), None), ((), None)], ids=["one", "several", "none"]
)
def test_named_node_is_the_only_value_of_a_name_condition(values: tuple[str, ...], expected: str | None) -> None:
    labels = NodeTerm((NodeRequirement("zone", "In", ("a",)),))
    names = NodeTerm((), (NodeRequirement("metadata.name", "In", values),))
    assert named_node(NodeSelector((labels, names))) == expected
    assert named_node(NodeSelector((labels,))) is None
