"""The pure functions of the page, in Chromium, from the sources: the filter language, values, ages, references."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.dashboard.browser import Browser
from tests.dashboard.modules import call, modules_page

MODULES = {
    "filter": "filter/parse.js",
    "regex": "filter/safe_regex.js",
    "values": "table/values.js",
    "slices": "table/slices.js",
    "age": "time/age.js",
    "references": "details/references.js",
    "health": "health/row_health.js",
    "object": "details/object_health.js",
    "store": "details/object_store.js",
    "owned": "details/owned_problems.js",
    "yaml": "details/yaml_pieces.js",
    "score": "palette/score.js",
    "routes": "routes/routes.js",
    "kinds": "discovery/kinds.js",
    "rights": "rights/permits.js",
    "roles": "rights/roles.js",
    "commands": "kubectl/commands.js",
    "errors": "transport/errors.js",
}


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return an empty page with the modules in `page_modules`."""
    with modules_page(chromium, tmp_path_factory.mktemp("javascript"), MODULES) as opened:
        yield opened


def ordered(page: Page, *cells: Any) -> list[Any]:
    """Return cells in the order of a column."""
    sort = """(cells) => cells.map((cell) => ({ cell, key: page_modules.values.sortKey(cell, false) }))
      .sort((a, b) => page_modules.values.compareKeys(a.key, b.key)).map((each) => each.cell)"""
    result: list[Any] = page.evaluate(sort, list(cells))
    return result


def test_values_are_ordered_by_what_they_mean(page: Page) -> None:
    assert ordered(page, "1Gi", "10Mi", "<none>", "500Ki") == ["500Ki", "10Mi", "1Gi", "<none>"]
    assert ordered(page, "v1.10", "v1.9", "v1.9.1") == ["v1.9", "v1.9.1", "v1.10"]
    assert ordered(page, "10/10", "1/3", "0/1", "2/3") == ["0/1", "1/3", "2/3", "10/10"]
    assert ordered(page, "12 (3m ago)", "2", "100") == ["2", "12 (3m ago)", "100"]
    assert ordered(page, 10, 9, None, 100) == [9, 10, 100, None]


def test_a_list_that_lacks_an_object_keeps_its_last_state_as_deleted(page: Page) -> None:
    lists = """(lists) => {
      const store = new page_modules.store.ObjectStore();
      for (const items of lists) {
        store.begin();
        store.addPage("", { kind: "PodList", apiVersion: "v1", items: items.map((uid) => ({ metadata: { uid } })) });
        store.finish();
      }
      const dated = [...store.deletedAt.values()].every((at) => at > 0);
      return [[...store.objects.value.keys()], [...store.deleted.value.keys()], dated];
    }"""
    assert page.evaluate(lists, [["a", "b"], ["b"]]) == [["b"], ["a"], True]
    many = [str(number) for number in range(1000)]
    newest = page.evaluate(lists, [many, []])[1]
    assert newest == many[-200:]


def test_many_items_are_sorted_in_slices_and_equal_ones_keep_their_order(page: Page) -> None:
    sort = """async (count) => {
      const items = Array.from({ length: count }, (_, i) => ({ key: (i * 7919) % 101, i }));
      const steps = page_modules.slices.sortSteps(items, (a, b) => a.key - b.key);
      return (await new Promise((done) => page_modules.slices.inSlices(steps, done))).map(({ key, i }) => [key, i]);
    }"""
    for count in (0, 1, 9000):
        assert page.evaluate(sort, count) == sorted([i * 7919 % 101, i] for i in range(count))


def test_durations_are_seconds(page: Page) -> None:
    assert call(page, "values.durationSeconds", "1d2h") == 93_600
    assert call(page, "values.numberOf", "5m", True) == 300
    assert call(page, "values.numberOf", "5m", False) == 0.005


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (119, "119s"), (330, "5m30s"), (3600, "60m"), (12_000, "3h20m"), (180_000, "2d2h"), (10**6, "11d")],
)
def test_ages_are_those_of_kubectl(page: Page, seconds: int, text: str) -> None:
    assert call(page, "age.humanDuration", seconds) == text


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*$", r"(\w+\s?)*$", "(.*)*x", ".*.*.*x", r"(a)\1+", "(?=a+)b", "((a+))+", "([a-z]+)*$"]
)
def test_expressions_that_may_take_long_are_refused(page: Page, pattern: str) -> None:
    assert call(page, "regex.refusal", pattern) is True


@pytest.mark.parametrize("pattern", ["^web-", "a.*b", "(api|web)-", r"\d+$", "[()+*]+", "(web)?-x", "a{2}b", "x+?y"])
def test_usual_expressions_are_accepted(page: Page, pattern: str) -> None:
    assert call(page, "regex.refusal", pattern) is False


def test_terms_of_a_filter_have_types(page: Page) -> None:
    text = "web -old app=front tier!=x label:y spec.nodeName=n ns:a status:Running age<1h col:Ready!=True /^a b/ age>x"
    types = [term["type"] for term in call(page, "filter.parseFilter", text)]
    expected = "word word label label label field namespace status age column regex error"
    assert types == expected.split()


def test_a_value_in_quotes_keeps_its_spaces(page: Page) -> None:
    terms = call(page, "filter.parseFilter", 'col:Status="In progress"')
    assert terms[0]["value"] == "In progress"


def test_selectors_go_to_the_server(page: Page) -> None:
    terms = call(page, "filter.parseFilter", "a=b c!=d label:e metadata.name=f word")
    selectors = call(page, "filter.selectorsOf", terms)
    assert selectors == {"labelSelector": "a=b,c!=d,e", "fieldSelector": "metadata.name=f"}


@pytest.mark.parametrize(
    ("path", "value", "parent", "kind"),
    [
        (["spec", "volumes", 0, "configMap", "name"], "a", {}, "ConfigMap"),
        (["spec", "volumes", 0, "secret", "secretName"], "a", {}, "Secret"),
        (["spec", "imagePullSecrets", 0, "name"], "a", {}, "Secret"),
        (["spec", "nodeName"], "a", {}, "Node"),
        (["spec", "scaleTargetRef", "name"], "a", {"kind": "Deployment", "apiVersion": "apps/v1"}, "Deployment"),
        (["roleRef", "name"], "a", {"kind": "Role", "apiGroup": "rbac.authorization.k8s.io"}, "Role"),
        (["subjects", 0, "name"], "a", {"kind": "User"}, None),
        (["spec", "containers", 0, "name"], "a", {}, None),
        (["spec", "constructor", "name"], "a", {}, None),
    ],
)
def test_references_are_found_by_the_names_of_fields(
    page: Page, path: list[Any], value: str, parent: dict[str, str], kind: str | None
) -> None:
    found = call(page, "references.referenceAt", path, value, parent, "default")
    assert (found and found["kind"]) == kind


@pytest.mark.parametrize(
    ("status", "ready", "level", "problem"),
    [
        ("Running", "1/1", "good", None),
        ("Running", "0/1", "warn", "problem.pending"),
        ("CrashLoopBackOff", "0/1", "bad", "problem.condition"),
        ("Completed", "0/1", "good", None),
        ("Pending", "0/1", "warn", "problem.pending"),
    ],
)
def test_health_of_an_old_pod(page: Page, status: str, ready: str, level: str, problem: str | None) -> None:
    row = {"cells": ["a", ready, status], "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    columns = [{"name": name} for name in ("Name", "Ready", "Status")]
    judge = "([columns, row]) => page_modules.health.healthWith(columns)(row, Date.parse('2026-02-01'))"
    health = page.evaluate(judge, [columns, row])
    assert (health["level"], health["problem"] and health["problem"]["key"]) == (level, problem)


def test_conditions_that_are_good_when_false_are_known(page: Page) -> None:
    assert call(page, "object.conditionLevel", {"type": "MemoryPressure", "status": "False"}) == "good"
    assert call(page, "object.conditionLevel", {"type": "Ready", "status": "False"}) == "bad"
    assert call(page, "object.conditionLevel", {"type": "Available", "status": "Unknown"}) == "warn"
    remaining = {"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain"}
    assert call(page, "object.conditionLevel", remaining) == "progress"
    assert call(page, "object.conditionLevel", {**remaining, "status": "False"}) == "good"


@pytest.mark.parametrize(
    ("type_", "reason", "level"),
    [
        ("Progressing", "ProgressDeadlineExceeded", "bad"),
        ("PodScheduled", "Unschedulable", "bad"),
        ("Progressing", "DeploymentPaused", "progress"),
        ("PodScheduled", "SchedulingGated", "progress"),
    ],
)
def test_a_step_that_cannot_end_by_itself_is_a_problem(page: Page, type_: str, reason: str, level: str) -> None:
    condition = {"type": type_, "status": "False", "reason": reason}
    assert call(page, "object.conditionLevel", condition) == level
    found = call(page, "object.problemsOf", {"metadata": {}, "status": {"conditions": [condition]}})
    assert len(found) == (level == "bad")


@pytest.mark.parametrize(("reason", "count"), [("FailedScheduling", 1), ("FailedMount", 1), ("Unhealthy", 0)])
def test_what_an_owned_object_waits_for_is_a_problem_of_its_owner(page: Page, reason: str, count: int) -> None:
    health = {"level": "progress", "problem": None}
    pod = {"kind": {"kind": "Pod"}, "row": {"uid": "1", "metadata": {}}, "status": "Pending", "health": health}
    event = {"type": "Warning", "reason": reason, "message": "no node", "involvedObject": {"uid": "1"}}
    found = call(page, "owned.ownedProblems", [pod], [event])
    assert [(each["status"], each["message"], each["reason"]) for each in found] == [
        ("Pending", "no node", reason)
    ] * count


def test_the_best_match_is_the_first(page: Page) -> None:
    scores = [call(page, "score.score", name, "dep") for name in ("dep", "Deployment", "a-dep", "DaemonEndPoint", "x")]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] == 0


@pytest.mark.parametrize("name", ["plain", "system:node", "a/b?c#d", "%2e%2e"])
def test_addresses_of_objects_are_read_back(page: Page, name: str) -> None:
    kind = {"group": "", "version": "v1", "plural": "things"}
    route = call(page, "routes.routeOf", call(page, "routes.objectAddress", kind, "space", name))
    assert (route["namespace"], route["object"], route["group"]) == ("space", name, "")


def test_plurals_of_kinds_are_titles(page: Page) -> None:
    pairs = {"NetworkPolicy": "networkpolicies", "Pod": "pods", "Ingress": "ingresses", "Endpoints": "endpoints"}
    titles = [call(page, "kinds.pluralTitle", {"kind": kind, "plural": plural}) for kind, plural in pairs.items()]
    assert titles == ["NetworkPolicies", "Pods", "Ingresses", "Endpoints"]


def test_names_in_commands_are_quoted(page: Page) -> None:
    assert call(page, "roles.quoted", "a'b; rm -r /") == "'a'\\''b; rm -r /'"


def test_control_characters_and_long_messages_are_cut(page: Page) -> None:
    assert call(page, "errors.safeMessage", "a\x1b]8;;x\u202eb") == "a\ufffd]8;;x\ufffdb"
    assert len(call(page, "errors.safeMessage", "x" * 65_536)) == 4001


def test_lines_of_yaml_have_colours(page: Page) -> None:
    assert call(page, "yaml.piecesOf", "  replicas: 3") == [
        ["dash", "  "],
        ["key", "replicas"],
        ["dash", ":"],
        ["number", " 3"],
    ]
    assert "".join(piece for _, piece in call(page, "yaml.piecesOf", "- a: 'b: c'")) == "- a: 'b: c'"


VIEWER_RULES: Any = [
    {"verbs": ["get"], "apiGroups": [""], "resources": ["pods", "pods/log"]},
    {"verbs": ["delete"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["mine"]},
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*/scale"]},
]


@pytest.mark.parametrize(
    ("verb", "of", "allowed"),
    [
        ("get", {}, True),
        ("get", {"subresource": "log"}, True),
        ("get", {"subresource": "exec"}, False),
        ("delete", {}, False),
        ("delete", {"name": "mine"}, True),
        ("delete", {"name": "other"}, False),
        ("patch", {"subresource": "scale"}, True),
    ],
)
def test_rules_of_a_user_permit_an_action(page: Page, verb: str, of: dict[str, str], allowed: bool) -> None:
    pods = {"group": "", "plural": "pods"}
    rules = {"rules": VIEWER_RULES, "incomplete": False}
    assert call(page, "rights.permits", rules, pods, verb, of) is allowed


def test_incomplete_rules_refuse_nothing(page: Page) -> None:
    rules = {"rules": VIEWER_RULES, "incomplete": True}
    assert call(page, "rights.permits", rules, {"group": "", "plural": "secrets"}, "get") is None


@pytest.mark.parametrize(("seconds", "problem"), [(30, None), (90, "problem.behind")])
def test_a_change_that_no_controller_observes_becomes_a_problem(page: Page, seconds: int, problem: str | None) -> None:
    row = {"cells": ["x", "5d"], "behind": True, "changed": {"at": "2026-01-01T00:00:00Z"}}
    row["metadata"] = {"name": "x", "creationTimestamp": "2025-12-01T00:00:00Z"}
    columns = [{"name": "Name"}, {"name": "Age"}]
    health = """([columns, row, seconds]) =>
      page_modules.health.healthWith(columns)(row, Date.parse("2026-01-01T00:00:00Z") + seconds * 1000).problem?.key"""
    assert page.evaluate(health, [columns, row, seconds]) == problem
