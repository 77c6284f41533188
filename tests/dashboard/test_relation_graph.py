"""The pure functions of relations: what objects point to, paths, folding, and positions that stay."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from tests.dashboard.browser import Browser
from tests.dashboard.modules import call, modules_page

MODULES: Final = {
    "pointers": "relations/pointers.js",
    "graph": "relations/graph.js",
    "around": "relations/around.js",
    "tree": "relations/tree.js",
    "fold": "relations/fold.js",
    "layout": "relations/layout.js",
    "filter": "relations/filter.js",
    "keys": "relations/tree_keys.js",
    "reasons": "relations/reasons.js",
}
POD: Final = {"group": "", "plural": "pods", "kind": "Pod", "version": "v1", "namespaced": True}
BOAT: Final = {"group": "harbour.example.com", "plural": "boats", "kind": "Boat", "version": "v1", "namespaced": True}
GRAPH: Final = """
const graphWith = (nodes, edges) => {
  const graph = { nodes: new Map(), edges: [], out: new Map(), into: new Map(), byUid: new Map() };
  for (const [id, more] of nodes) {
    const [kindName, , name] = id.split("/");
    graph.nodes.set(id, { id, kindName, group: "", kind: null, namespace: "", name, uid: id, level: "good", text: "",
      problem: false, state: "present", owner: "", created: "", ...more });
  }
  for (const [from, to, type = "owner"] of edges) {
    const edge = { id: `${from} ${to}`, from, to, type, why: [type] };
    graph.edges.push(edge);
    graph.out.set(from, [...(graph.out.get(from) ?? []), edge]);
    graph.into.set(to, [...(graph.into.get(to) ?? []), edge]);
    if (type === "owner" && !graph.nodes.get(to).owner) graph.nodes.get(to).owner = from;
  }
  return graph;
};
"""

_LINES: Final = """page_modules.tree.openLines(page_modules.tree.treeOf(graph, "{}"), new Set())
  .map((line) => {})"""
_PATH: Final = """page_modules.around.pathBetween(graph, '{}', '{}', new Set(graph.nodes.keys()))
  ?.map((step) => [step.edge.id, step.forward]) ?? null"""
_FOLDED: Final = """(() => {
  const options = OPTIONS;
  const pinned = new Set(options.pinned);
  const folded = page_modules.fold.fold(graph, new Set(graph.nodes.keys()), { pinned, opened: options.opened });
  const nodes = folded.nodes.map((each) => [each.id, each.count, each.node.level]);
  return { nodes, edges: folded.edges.map((each) => each.count) };
})()"""


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return an empty page with the modules."""
    with modules_page(chromium, tmp_path_factory.mktemp("relations"), MODULES) as opened:
        yield opened


def on_graph(page: Page, nodes: list[Any], edges: list[Any], expression: str) -> Any:
    """Return the value of an expression with `graph`."""
    named = [each if isinstance(each, list) else [each, {}] for each in nodes]
    code = f"([nodes, edges]) => {{ {GRAPH} const graph = graphWith(nodes, edges); return ({expression}); }}"
    return page.evaluate(code, [named, edges])


def test_references_have_the_path_of_their_field(page: Page) -> None:
    secret = {"name": "a", "secret": {"secretName": "password", "optional": True}}
    links = call(page, "pointers.linksOf", POD, {"metadata": {"namespace": "n"}, "spec": {"volumes": [secret]}})
    [pointer] = links["pointers"]
    assert (pointer["field"], pointer["kind"], pointer["name"]) == (
        "spec.volumes[0].secret.secretName",
        "Secret",
        "password",
    )
    assert pointer["optional"] is True


def test_fields_of_many_items_are_one_reason(page: Page) -> None:
    script = """([whys, most]) => {
      const reasons = [];
      for (const why of whys) page_modules.reasons.addReason(reasons, why, most);
      return reasons;
    }"""
    many = [f"endpoints[{i}].{name}" for i in range(1000) for name in ("nodeName", "targetRef.name")]
    assert page.evaluate(script, [many, 6]) == ["endpoints[].nodeName", "endpoints[].targetRef.name"]
    assert page.evaluate(script, [["a[0].b", "a[0].b"], 6]) == ["a[0].b"]
    assert page.evaluate(script, [["a", "b", "c"], 2]) == ["a", "b"]


def test_a_field_of_a_custom_resource_with_the_name_of_a_kind_is_a_reference(page: Page) -> None:
    spec = {"boatName": "one", "captainRef": {"name": "ahab"}, "title": "x"}
    links = call(page, "pointers.linksOf", BOAT, {"metadata": {}, "spec": spec})
    assert {(each["kind"], each["name"], each["guessed"]) for each in links["pointers"]} == {
        ("boat", "one", True),
        ("captain", "ahab", True),
    }
    assert call(page, "pointers.linksOf", POD, {"metadata": {}, "spec": {"boatName": "one"}})["pointers"] == []


def test_users_of_a_binding_are_subjects(page: Page) -> None:
    kind = {"group": "rbac.authorization.k8s.io", "plural": "rolebindings", "kind": "RoleBinding"}
    subjects = [{"kind": "User", "name": "jane"}, {"kind": "ServiceAccount", "name": "a", "namespace": "n"}]
    role = {"kind": "Role", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}
    links = call(page, "pointers.linksOf", kind, {"metadata": {}, "subjects": subjects, "roleRef": role})
    assert [each["kind"] for each in links["pointers"]] == ["User", "ServiceAccount", "Role"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"app": "a", "tier": "x"}, True),
        ({"app": "a", "tier": "z"}, False),
        ({"app": "a", "old": "", "tier": "x"}, False),
    ],
)
def test_selectors_are_those_of_kubernetes(page: Page, labels: dict[str, str], expected: bool) -> None:
    kind = {"group": "policy", "plural": "poddisruptionbudgets", "kind": "PodDisruptionBudget"}
    expressions = [
        {"key": "tier", "operator": "In", "values": ["x", "y"]},
        {"key": "old", "operator": "DoesNotExist"},
    ]
    selector = {"matchLabels": {"app": "a"}, "matchExpressions": expressions}
    [selection] = call(page, "pointers.linksOf", kind, {"metadata": {}, "spec": {"selector": selector}})["selections"]
    assert selection["text"] == "app=a,tier in (x, y),old doesnotexist"
    assert call(page, "pointers.selects", selection, labels) is expected


def test_health_rolls_up_to_the_owners(page: Page) -> None:
    nodes = ["Boat//one", "Set//a", ["Pod//bad", {"level": "bad", "problem": True}], "Pod//good"]
    edges = [["Boat//one", "Set//a"], ["Set//a", "Pod//bad"], ["Set//a", "Pod//good"]]
    lines = on_graph(
        page, nodes, edges, _LINES.format("Boat//one", "[line.node.name, line.worst, line.problems, line.depth]")
    )
    assert lines == [["one", "bad", 1, 0], ["a", "bad", 1, 1], ["bad", "bad", 1, 2], ["good", "good", 0, 2]]


def test_the_tree_begins_with_the_owners_of_the_object(page: Page) -> None:
    nodes = ["D//web", "R//one", "R//two", "P//a", "P//b"]
    edges = [["D//web", "R//one"], ["D//web", "R//two"], ["R//one", "P//a"], ["R//one", "P//b"]]
    lines = on_graph(page, nodes, edges, _LINES.format("P//a", "line.node.name"))
    assert lines == ["web", "one", "a"]


def test_owners_that_own_each_other_end(page: Page) -> None:
    edges = [["A//a", "A//b"], ["A//b", "A//a"]]
    lines = on_graph(page, ["A//a", "A//b"], edges, _LINES.format("A//a", "[line.node.name, line.cycle]"))
    assert lines == [["a", False], ["b", False], ["a", True]]


def test_a_path_follows_relations_and_goes_against_them_only_if_it_must(page: Page) -> None:
    nodes = ["Service//web", "Pod//a", "Node//n", "ReplicaSet//r"]
    edges = [["Service//web", "Pod//a", "selector"], ["Pod//a", "Node//n", "field"], ["ReplicaSet//r", "Pod//a"]]
    assert on_graph(page, nodes, edges, _PATH.format("Service//web", "Node//n")) == [
        ["Service//web Pod//a", True],
        ["Pod//a Node//n", True],
    ]
    assert on_graph(page, nodes, edges, _PATH.format("Service//web", "ReplicaSet//r"))[1] == [
        "ReplicaSet//r Pod//a",
        False,
    ]
    assert on_graph(page, [*nodes, "Alone//x"], edges, _PATH.format("Service//web", "Alone//x")) is None


def test_what_is_around_an_object_excludes_other_users_of_what_it_uses(page: Page) -> None:
    nodes = ["D//web", "P//web", "N//node", "P//other", "S//web", "I//web"]
    edges = [["D//web", "P//web"], ["P//web", "N//node", "field"], ["P//other", "N//node", "field"]]
    edges += [["S//web", "P//web", "selector"], ["I//web", "S//web", "field"]]
    found = on_graph(page, nodes, edges, "[...page_modules.around.around(graph, 'D//web')].sort()")
    assert found == ["D//web", "I//web", "N//node", "P//web", "S//web"]


def folded(page: Page, count: int, **options: Any) -> Any:
    nodes: list[Any] = ["R//r", *([f"P//p{i:04d}", {"level": "bad" if i < 3 else "good"}] for i in range(count))]
    edges = [["R//r", f"P//p{i:04d}"] for i in range(count)]
    given = json.dumps({"pinned": ["R//r"], "opened": [], **options})
    return on_graph(page, nodes, edges, _FOLDED.replace("OPTIONS", given))


def test_objects_of_the_same_owner_kind_and_health_become_one_counted_group(page: Page) -> None:
    found = folded(page, 1000)
    assert sorted(count for _, count, _ in found["nodes"]) == [1, 1, 1, 1, 997]
    assert sorted(found["edges"]) == [1, 1, 1, 997]


def test_a_group_opens_in_part_and_pinned_objects_are_never_in_one(page: Page) -> None:
    [group] = [each for each, count, _ in folded(page, 1000)["nodes"] if count > 1]
    found = folded(page, 1000, opened=[group], pinned=["R//r", "P//p0900"])
    assert max(count for _, count, _ in found["nodes"]) == 996 - 50
    assert ["P//p0900", 1, "good"] in found["nodes"]


@pytest.mark.parametrize("times", [1, 12, 40])
def test_never_more_than_500_nodes_are_drawn(page: Page, times: int) -> None:
    groups = [each for each, count, _ in folded(page, 5000)["nodes"] if count > 1]
    assert len(folded(page, 5000, opened=groups * times)["nodes"]) <= 500


def test_a_new_node_moves_no_other_one(page: Page) -> None:
    nodes = [f"n{i}" for i in range(40)]
    edges = [[f"n{(i - 1) // 3}", f"n{i}"] for i in range(1, 40)]
    before = call(page, "layout.arrange", {"nodes": nodes, "edges": edges, "previous": {}})
    more = {"nodes": [*nodes, "new", "newer"], "edges": [*edges, ["n3", "new"], ["new", "newer"]], "previous": before}
    after = call(page, "layout.arrange", more)
    assert {name: after[name] for name in nodes} == before
    places = list(after.values())
    overlaps = [
        (a, b) for i, a in enumerate(places) for b in places[:i] if abs(a[0] - b[0]) < 216 and abs(a[1] - b[1]) < 46
    ]
    assert overlaps == []
    assert after["new"][0] > after["n3"][0]


def test_words_of_the_filter_find_kinds_names_and_states(page: Page) -> None:
    node = {
        "kindName": "Pod",
        "namespace": "n",
        "name": "web-1",
        "text": "Running",
        "state": "present",
        "level": "good",
    }
    matches = "([node, text]) => page_modules.filter.matcherOf(text, false)?.(node) ?? null"
    for text, expected in {"pod web": True, "running -web": False, "service": False, "good": True, " ": None}.items():
        assert page.evaluate(matches, [node, text]) is expected, text
