"""`kubectl sampan history` and `kubectl sampan diff`."""

import json
from typing import Any

import pytest

from sampan.cli.kubectl.revisions import state_at
from sampan.cli.objects.targets import ObjectTarget
from sampan.client import Client, Expired
from sampan.core.errors import Reason
from sampan.resource import Object
from tests.cli.kubectl.conftest import Run
from tests.e2e.conftest import Api


def _apply(api: Api, path: str, manager: str, **fields: Any) -> str:
    """Apply a ConfigMap; gives its revision."""
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, **fields}
    code, stored = api.request(
        "PATCH", f"{path}/a?fieldManager={manager}&force=true", obj, "application/apply-patch+yaml"
    )
    assert code in (200, 201), stored
    version: str = stored["metadata"]["resourceVersion"]
    return version


@pytest.fixture
def changed(api: Api, namespace: str) -> tuple[str, ...]:
    """The namespace and the revisions of a ConfigMap that one made and another changed."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    first = _apply(api, path, "one", data={"x": "1", "gone": "2"})
    second = _apply(api, path, "two", data={"z": "3"})
    third = _apply(api, path, "one", data={"x": "4"})
    return namespace, first, second, third


def without_history(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server be one that ignores the parameter, as Kubernetes does."""
    monkeypatch.setattr("sampan.cli.kubectl.server_history._PARAMETER", "unknown")


def test_the_history_is_the_same_without_the_api_of_sampan(
    run: Run, api: Api, changed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/api/v1/namespaces/{changed[0]}/configmaps"
    for value in range(120):
        _apply(api, path, "one", data={"x": str(value)})
    done = [run("history", "configmap/a", "-n", changed[0], "-o", "json")]
    without_history(monkeypatch)
    done.append(run("history", "configmap/a", "-n", changed[0], "-o", "json"))
    assert (done[0].code, done[0].out) == (0, done[1].out)
    assert len(json.loads(done[0].out)["items"]) == 123


def test_each_revision_lists_its_manager_and_changes(run: Run, changed: tuple[str, ...]) -> None:
    namespace, first, second, third = changed
    done = run("history", "configmap/a", "-n", namespace)
    assert (done.code, done.err) == (0, "")
    ages = [line.partition("  ")[2] for line in done.lines if line.startswith("revision")]
    assert all(age.endswith("s ago") for age in ages)
    assert [line.partition("  ")[0] if line.startswith("revision") else line for line in done.lines] == [
        f"revision {third}",
        "  one (Apply)",
        '    - .data.gone: "2"',
        '    ~ .data.x: "1" -> "4"',
        f"revision {second}",
        "  two (Apply)",
        '    + .data.z: "3"',
        f"revision {first}",
        "  created by one",
    ]


def test_the_history_is_given_to_programs_too(run: Run, changed: tuple[str, ...]) -> None:
    namespace, first, second, third = changed
    history = json.loads(run("history", "configmap/a", "-n", namespace, "-o", "json").out)
    assert [each["revision"] for each in history["items"]] == [third, second, first]
    assert history["items"][0]["changes"] == [
        {"path": ".data.gone", "managers": ["one (Apply)"], "before": "2"},
        {"path": ".data.x", "managers": ["one (Apply)"], "before": "1", "after": "4"},
    ]
    assert (history["items"][2]["created"], history["items"][2]["managers"]) == (True, ["one"])


def test_both_sides_of_a_long_change_are_shown(run: Run, api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    _apply(api, path, "one", data={"text": "a" * 200})
    _apply(api, path, "one", data={"text": "b" * 200})
    line = run("history", "configmap/a", "-n", namespace).lines[2].strip()
    before, after = line.removeprefix("~ .data.text: ").split(" -> ")
    assert before.startswith('"aaaa')
    assert after.startswith('"bbbb')
    assert len(line) <= 100


def test_the_history_is_cut_at_a_limit(run: Run, changed: tuple[str, ...]) -> None:
    done = run("history", "configmap", "a", "-n", changed[0], "--limit", "1")
    assert sum(line.startswith("revision") for line in done.lines) == 1


def test_an_object_that_was_made_again_begins_there(run: Run, api: Api, changed: tuple[str, ...]) -> None:
    path = f"/api/v1/namespaces/{changed[0]}/configmaps"
    api.request("DELETE", f"{path}/a")
    version = _apply(api, path, "three", data={"x": "1"})
    lines = run("history", "configmap/a", "-n", changed[0]).lines
    assert lines[0].startswith(f"revision {version}")
    assert lines[1:] == ["  created by three"]


def test_where_the_server_has_forgotten_the_history_ends(
    run: Run, changed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace, _, second, third = changed

    async def forgetful(client: Client, target: ObjectTarget, revision: str) -> Object | None:
        if int(revision) < int(second):
            raise Expired(Reason.EXPIRED, 410, "compacted")
        return await state_at(client, target, revision)

    monkeypatch.setattr("sampan.cli.kubectl.revisions.state_at", forgetful)
    without_history(monkeypatch)
    done = run("history", "configmap/a", "-n", namespace)
    assert [line.split()[1] for line in done.lines if line.startswith("revision")] == [third, second]
    assert done.lines[-1] == "  the oldest that the server keeps: what it changed is not known"


def test_a_diff_with_the_present_is_in_yaml(run: Run, changed: tuple[str, ...]) -> None:
    namespace, first, _, third = changed
    done = run("diff", f"configmap/a@{first}", "-n", namespace)
    assert (done.code, done.err) == (1, "")
    assert done.lines[:2] == [f"--- configmap/a@{first}", f"+++ configmap/a@{third}"]
    signed = [line for line in done.lines[2:] if line[0] in "+-" and "resourceVersion" not in line]
    assert signed == ['-  gone: "2"', '-  x: "1"', '+  x: "4"', '+  z: "3"']


def test_a_diff_of_two_revisions(run: Run, changed: tuple[str, ...]) -> None:
    namespace, first, second, _ = changed
    done = run("diff", f"configmap/a@{first}", f"configmap/a@{second}", "-n", namespace)
    assert [line for line in done.lines if line[:3] in ("+  ", "-  ") and "resourceVersion" not in line] == [
        '+  z: "3"'
    ]


def test_type_and_name_may_be_two_words(run: Run, changed: tuple[str, ...]) -> None:
    namespace, first, second, _ = changed
    apart = run("diff", "configmap", f"a@{first}", f"a@{second}", "-n", namespace)
    assert apart.out == run("diff", f"configmap/a@{first}", f"configmap/a@{second}", "-n", namespace).out
    assert run("diff", "configmap", f"a@{first}", "-n", namespace).code == 1


def test_a_revision_between_two_changes_is_the_state_then(run: Run, api: Api, changed: tuple[str, ...]) -> None:
    namespace, *_, third = changed
    other = api.create(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "b"}})
    later = other["metadata"]["resourceVersion"]
    done = run("diff", f"configmap/a@{later}", f"configmap/a@{third}", "-n", namespace)
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: expected one or two revisions: TYPE/NAME@REV [TYPE/NAME@REV]"),
        (("configmap/a",), "error: 'configmap/a' has no revision: use TYPE/NAME@REV"),
        (("configmap/a@x",), "error: 'configmap/a@x': a revision must be a number above 0"),
        (("configmap/a@",), "error: 'configmap/a@': a revision must be a number above 0"),
        (("configmap/a@3",), "error: configmap/a did not exist at revision 3"),
    ],
    ids=["nothing", "no revision", "no number", "empty", "before it was made"],
)
def test_mistakes_are_named(run: Run, changed: tuple[str, ...], arguments: tuple[str, ...], message: str) -> None:
    done = run("diff", *arguments, "-n", changed[0])
    assert done.code == 2
    assert done.err.startswith(message)


def test_an_unknown_command_or_option_names_the_help(run: Run) -> None:
    output = run("paint").err
    assert output.startswith("error: unknown command 'paint'.")
    assert output.endswith("See 'kubectl sampan --help' for usage.\n")
    assert "See 'kubectl sampan diff --help' for usage." in run("diff", "--colour").err


def test_a_diff_with_a_compacted_revision_is_an_error(
    run: Run, changed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forgetful(client: Client, target: ObjectTarget, revision: str) -> Object | None:
        raise Expired(Reason.EXPIRED, 410, "compacted")

    monkeypatch.setattr("sampan.cli.kubectl.diff.state_at", forgetful)
    done = run("diff", f"configmap/a@{changed[1]}", "-n", changed[0])
    assert done.code == 2
    assert done.err.strip() == f"error: the server no longer has revision {changed[1]}; history shows the others"
