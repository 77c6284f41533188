"""The pure functions of the history, in Chromium: changed fields, actors, tugs of war, differences, owners."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.dashboard.browser import Browser
from tests.dashboard.modules import call, modules_page

Json = dict[str, Any]
MODULES = {
    "fields": "history/changed_fields.js",
    "actor": "history/actor.js",
    "tugs": "history/tug_of_war.js",
    "revisions": "history/revisions.js",
    "records": "history/records.js",
    "difference": "history/difference.js",
    "blame": "blame/blame.js",
    "lines": "blame/blamed_lines.js",
}


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return an empty page with the modules in `page_modules`."""
    with modules_page(chromium, tmp_path_factory.mktemp("history"), MODULES) as opened:
        yield opened


def entry(manager: str, fields: Json, time: str = "2026-01-01T00:00:00Z", **more: Any) -> Json:
    """Return an entry of managedFields."""
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields, **more}


def change(
    revision: int, *, kind: str = "MODIFIED", spec: Json | None = None, managed: list[Json] | None = None
) -> Json:
    """Return a line of a history."""
    meta = {"name": "web", "resourceVersion": str(revision), "managedFields": managed or []}
    obj = {"apiVersion": "v1", "kind": "Boat", "metadata": meta, "spec": spec or {}}
    line = {"type": kind, "resourceVersion": str(revision), "time": f"2026-01-01T00:00:{revision:02d}Z"}
    return {**line, "user": None, "userAgent": None, "object": obj}


def paths(page: Page, before: Any, after: Any) -> list[str]:
    """Return the paths of changed fields."""
    return [each["path"] for each in call(page, "fields.changedFields", before, after)]


def test_an_inserted_item_of_a_list_is_one_change(page: Page) -> None:
    before = {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}
    after = {"containers": [{"name": "new"}, {"name": "a", "image": "x"}, {"name": "b", "image": "z"}]}
    assert paths(page, before, after) == ["containers[b].image", "containers[new]"]


def test_what_every_write_changes_is_no_change(page: Page) -> None:
    before = {"metadata": {"resourceVersion": "1", "generation": 1, "managedFields": [], "labels": {"a": "b"}}}
    after = {"metadata": {"resourceVersion": "2", "generation": 2, "managedFields": [{}], "labels": {"a": "b"}}}
    assert paths(page, before, after) == []


def test_keys_with_dots_are_in_brackets(page: Page) -> None:
    assert paths(page, {"annotations": {}}, {"annotations": {"a.io/b": "1"}}) == ["annotations[a.io/b]"]


def test_a_list_without_names_changes_as_a_whole(page: Page) -> None:
    assert paths(page, {"args": ["a"]}, {"args": ["a", "b"]}) == ["args"]
    assert paths(page, {"hosts": [{"name": "a"}, {"name": "a"}]}, {"hosts": []}) == ["hosts"]


def test_a_key_of_the_prototype_is_data(page: Page) -> None:
    assert paths(page, {"data": {}}, {"data": {"constructor": "1"}}) == ["data.constructor"]


def test_the_manager_of_a_change_is_the_one_with_a_new_time(page: Page) -> None:
    before = [entry("kubectl", {"f:spec": {"f:a": {}}}), entry("bot", {"f:spec": {"f:b": {}}})]
    after = [entry("kubectl", {"f:spec": {}}), entry("bot", {"f:spec": {"f:a": {}, "f:b": {}}}, "2026-01-01T00:00:01Z")]
    first, second = change(1, managed=before), change(2, managed=after)
    assert call(page, "actor.actorOf", second, first["object"])["manager"] == "bot"


def test_without_managed_fields_the_actor_is_the_client(page: Page) -> None:
    line = {**change(2), "user": "alice", "userAgent": "kubectl/v1.32 (linux/amd64)"}
    found = call(page, "actor.actorOf", line, change(1)["object"])
    assert (found["manager"], found["user"]) == ("kubectl", "alice")


def alternating(count: int, *managers: str) -> list[Json]:
    """Return changes of a field by managers in turn, the newest first; each sets its own value."""
    changes = [change(1, kind="ADDED", spec={"replicas": 0})]
    for i in range(count):
        manager = managers[i % len(managers)]
        managed = [entry(manager, {"f:spec": {"f:replicas": {}}}, f"2026-01-01T00:01:{i:02d}Z")]
        changes.append(change(i + 2, spec={"replicas": i % len(managers) + 1}, managed=managed))
    return changes[::-1]


def tugs(page: Page, changes: list[Json]) -> list[Json]:
    """Return the tugs of war of a history."""
    found: list[Json] = call(page, "tugs.tugsOf", call(page, "revisions.revisionsOf", changes, "Created"))
    return found


def test_two_managers_in_turn_are_found_within_ten_changes(page: Page) -> None:
    (found,) = tugs(page, alternating(8, "argocd", "autoscaler"))
    assert (found["path"], found["managers"]) == ("spec.replicas", ["argocd", "autoscaler"])
    assert tugs(page, alternating(4, "argocd", "autoscaler"))


@pytest.mark.parametrize("managers", [("argocd",), ("a", "b", "c")])
def test_one_or_three_managers_are_no_tug_of_war(page: Page, managers: tuple[str, ...]) -> None:
    assert tugs(page, alternating(9, *managers)) == []


def test_the_oldest_revision_of_an_expired_history_has_no_changes(page: Page) -> None:
    found = call(page, "revisions.revisionsOf", [change(3, spec={"a": 2}), change(2, spec={"a": 1})], "Expired")
    assert [(each["known"], [field["path"] for field in each["fields"]]) for each in found] == [
        (True, ["spec.a"]),
        (False, []),
    ]


def test_a_revision_after_a_deletion_has_no_state_before(page: Page) -> None:
    changes = [
        change(5, kind="ADDED", spec={"a": 2}),
        change(4, kind="DELETED", spec={"a": 1}),
        change(2, kind="ADDED"),
    ]
    found = call(page, "revisions.revisionsOf", changes, "Created")
    assert [each["before"] is None for each in found] == [True, False, True]


READ: str = """async ([lines, limit]) => {
  const transport = { lines: async (path, onDocuments) => { window.asked = path; onDocuments(lines); } };
  try { return await page_modules.records.readChanges(transport, "/boats", "changes", { before: "9", limit }); }
  catch (error) { return error.name; }
}"""


def test_a_page_of_a_history_is_read(page: Page) -> None:
    lines = [change(3), change(2), {"type": "END", "reason": "Limit", "continue": "2"}]
    found = page.evaluate(READ, [lines, 2])
    assert (len(found["changes"]), found["reason"], found["next"]) == (2, "Limit", "2")
    assert page.evaluate("window.asked") == "/boats?sampan.dev%2Fhistory=changes&limit=2&sampan.dev%2Fbefore=9"


@pytest.mark.parametrize("lines", [[], [{"kind": "BoatList", "items": []}], [{"type": "ADDED"}]])
def test_a_server_without_history_is_known(page: Page, lines: list[Json]) -> None:
    assert page.evaluate(READ, [lines, 2]) == "NoHistory"


def difference(page: Page, before: Any, after: Any) -> list[Any]:
    """Return the changed lines of two specs."""
    states = [{"apiVersion": "v1", "kind": "Boat", "metadata": {"name": "a"}, "spec": each} for each in (before, after)]
    rows = call(page, "difference.differenceOf", *states, {"status": True})["rows"]
    found: list[Any] = call(page, "difference.unified", rows)
    return [(each["side"], each["text"].strip()) for each in found if not isinstance(each, int) and each["side"]]


def test_lines_before_precede_lines_after(page: Page) -> None:
    found = difference(page, {"a": 1, "b": 2}, {"b": 3, "a": 2})
    assert sorted(found[:2]) == [("before", "a: 1"), ("before", "b: 2")]
    assert sorted(found[2:]) == [("after", "a: 2"), ("after", "b: 3")]


def test_the_order_of_keys_is_no_difference(page: Page) -> None:
    assert difference(page, {"a": 1, "b": 2}, {"b": 2, "a": 1}) == []


def test_values_of_secrets_are_not_in_a_difference(page: Page) -> None:
    states = [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"key": value}}
        for value in ("aHVudGVyMg==", "b3RoZXI=")
    ]
    text = str(call(page, "difference.differenceOf", *states, {"status": True}))
    assert "key" in text
    assert [value for value in ("aHVudGVy", "b3Ro") if value in text] == []


def test_the_part_of_a_line_that_differs_is_found(page: Page) -> None:
    assert call(page, "difference.parts", "status: False", "status: True") == ["status: ", "False", ""]
    assert call(page, "difference.parts", "aa", "aaa") == ["", "aa", ""]


OWNED: Json = {
    "metadata": {
        "name": "web",
        "finalizers": ["a.io/x", "b.io/y"],
        "managedFields": [
            entry(
                "kubectl",
                {
                    "f:spec": {
                        "f:containers": {'k:{"name":"main"}': {".": {}, "f:name": {}, "f:image": {}}},
                        "f:selector": {},
                    }
                },
            ),
            entry(
                "bot", {"f:metadata": {"f:finalizers": {'v:"b.io/y"': {}}}}, "2026-01-02T00:00:00Z", operation="Apply"
            ),
            entry(
                "bot2", {"f:metadata": {"f:finalizers": {'v:"b.io/y"': {}}}}, "2026-01-03T00:00:00Z", operation="Apply"
            ),
            entry("kubelet", {"f:status": {"f:phase": {}}}, subresource="status"),
        ],
    },
    "spec": {
        "containers": [{"name": "side"}, {"name": "main", "image": "x"}],
        "selector": {"matchLabels": {"app": "web"}},
    },
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("path", "managers"),
    [
        (["spec", "containers", 1, "image"], ["kubectl"]),
        (["spec", "containers", 0, "name"], []),
        (["spec", "selector", "matchLabels", "app"], ["kubectl"]),
        (["metadata", "finalizers", 1], ["bot2", "bot"]),
        (["metadata", "finalizers", 0], []),
        (["status", "phase"], ["kubelet"]),
        (["spec"], []),
    ],
    ids=[
        "list with keys",
        "item without owner",
        "atomic map",
        "set",
        "item of a set without owner",
        "subresource",
        "container",
    ],
)
def test_the_owners_of_a_field(page: Page, path: list[Any], managers: list[str]) -> None:
    owners = """([object, path]) => {
      const { blameOf, ownersAt } = page_modules.blame;
      return ownersAt(blameOf(object), path).map((each) => each.manager);
    }"""
    assert page.evaluate(owners, [OWNED, path]) == managers


def test_the_lines_of_a_manager_have_those_that_contain_them(page: Page) -> None:
    lines = """(object) => {
      const all = page_modules.lines.blamedLines(object, page_modules.blame.blameOf(object));
      return page_modules.lines.linesOf(all, "bot Apply").map((each) => each.text);
    }"""
    assert page.evaluate(lines, OWNED) == ["metadata:", "  finalizers:", "    - b.io/y"]
