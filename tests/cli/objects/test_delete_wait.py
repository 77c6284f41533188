"""`sampan delete` and `sampan wait`."""

from collections.abc import Callable

import pytest

from tests.cli.objects.conftest import Run
from tests.cli.objects.manifests import CRD, config_map


@pytest.fixture
def two(run: Run, namespace: str) -> str:
    """A namespace with two ConfigMaps."""
    run("apply", "-n", namespace, "-f", "-", stdin=f"{config_map('a')}---\n{config_map('b')}")
    return namespace


def _names(run: Run, namespace: str) -> list[str]:
    return run("get", "cm", "-n", namespace, "-o", "name").lines


def test_objects_are_deleted_by_name(run: Run, two: str) -> None:
    done = run("delete", "cm", "a", "-n", two)
    assert done.out == f'configmap "a" deleted from {two} namespace\n'
    assert _names(run, two) == ["configmap/b"]


@pytest.mark.parametrize("arguments", [["cm", "--all"], ["cm", "-l", "of=tests"]], ids=["all", "selector"])
def test_objects_are_deleted_by_selector(run: Run, two: str, arguments: list[str]) -> None:
    assert run("delete", *arguments, "-n", two, "-o", "name").lines == ["configmap/a", "configmap/b"]
    assert _names(run, two) == []


def test_objects_are_deleted_by_manifest(run: Run, two: str, manifest: Callable[..., str]) -> None:
    run("delete", "-f", manifest(config_map("b")), "-n", two)
    assert _names(run, two) == ["configmap/a"]


def test_a_dry_run_deletes_nothing(run: Run, two: str) -> None:
    assert "(server dry run)" in run("delete", "cm", "a", "-n", two, "--dry-run=server").out
    assert len(_names(run, two)) == 2


def test_a_finalizer_is_waited_for_until_the_time_out(run: Run, namespace: str) -> None:
    held = config_map("held").replace("  name: held", "  name: held\n  finalizers: [tests.example.com/hold]")
    run("apply", "-n", namespace, "-f", "-", stdin=held)
    waited = run("delete", "cm", "held", "-n", namespace, "--timeout", "1s")
    assert waited.code == 1
    assert "timed out waiting for configmap/held to be deleted" in waited.err
    assert run("delete", "cm", "held", "-n", namespace, "--no-wait").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cm"], "no name was specified"),
        (["cm", "a", "--all"], "name cannot be provided when a selector"),
        (["cm", "z"], 'configmaps "z" not found'),
    ],
    ids=["no name", "name and all", "missing"],
)
def test_mistakes_are_explained(run: Run, arguments: list[str], message: str) -> None:
    done = run("delete", *arguments)
    assert done.code == 1
    assert message in done.err


def test_delete_ignores_a_missing_object_on_request(run: Run, namespace: str) -> None:
    assert run("delete", "cm", "z", "-n", namespace, "--ignore-not-found").code == 0


@pytest.mark.parametrize(
    "desired",
    ["condition=Established", "condition=established=true", "create", "jsonpath={.spec.group}=cli.example.com"],
)
def test_waiting_for_what_is_so(run: Run, desired: str) -> None:
    run("apply", "-f", "-", stdin=CRD)
    done = run("wait", f"--for={desired}", "crd/boats.cli.example.com")
    assert done.out == "customresourcedefinition.apiextensions.k8s.io/boats.cli.example.com condition met\n"


def test_a_wait_for_an_unmet_condition_ends_at_the_timeout(run: Run, two: str) -> None:
    done = run("wait", "--for=jsonpath={.data.x}=1", "cm", "--all", "-n", two, "--timeout=1s")
    assert done.code == 1
    assert "error: timed out waiting for the condition on configmap/a" in done.err


def test_wait_for_delete_returns_at_once_for_a_missing_object(run: Run, namespace: str) -> None:
    assert run("wait", "--for=delete", "cm/z", "-n", namespace).code == 0


@pytest.mark.parametrize("desired", ["full moon", "condition=", "jsonpath=.a", "jsonpath={.a}b"])
def test_conditions_that_cannot_be_read(run: Run, desired: str) -> None:
    done = run("wait", f"--for={desired}", "ns/default")
    assert done.code == 1
    assert "unrecognized condition" in done.err or "jsonpath wait format" in done.err
