"""`sampan apply`."""

from collections.abc import Callable

import pytest

from tests.cli.objects.conftest import Run
from tests.cli.objects.manifests import CRD, boat, config_map


def test_applied_again_it_is_unchanged_and_changed_it_is_configured(run: Run, namespace: str) -> None:
    first = run("apply", "-n", namespace, "-f", "-", stdin=config_map("a", x="1"))
    again = run("apply", "-n", namespace, "-f", "-", stdin=config_map("a", x="1"))
    other = run("apply", "-n", namespace, "-f", "-", stdin=config_map("a", x="2"))
    assert [each.out for each in (first, again, other)] == [
        "configmap/a created\n",
        "configmap/a unchanged\n",
        "configmap/a configured\n",
    ]


def test_a_definition_and_an_object_of_it_in_one_file(run: Run, namespace: str) -> None:
    done = run("apply", "-n", namespace, "-f", "-", stdin=f"{CRD}---\n{boat('a')}")
    assert done.code == 0, done.err
    assert done.lines[1] == "boat.cli.example.com/a created"


def test_a_field_that_is_left_out_is_removed(run: Run, namespace: str) -> None:
    run("apply", "-n", namespace, "-f", "-", stdin=config_map("a", x="1", y="2"))
    run("apply", "-n", namespace, "-f", "-", stdin=config_map("a", x="1"))
    assert "y:" not in run("get", "cm", "a", "-n", namespace, "-o", "yaml").out


def test_fields_of_another_manager_are_a_conflict_unless_forced(run: Run, namespace: str) -> None:
    run("apply", "-n", namespace, "-f", "-", "--field-manager", "other", stdin=config_map("a", x="1"))
    refused = run("apply", "-n", namespace, "-f", "-", stdin=config_map("a", x="2"))
    assert refused.code == 1
    assert 'conflict with "other"' in refused.err
    assert "--force-conflicts" in refused.err
    assert run("apply", "-n", namespace, "-f", "-", "--force-conflicts", stdin=config_map("a", x="2")).code == 0


def test_an_invalid_object_does_not_stop_the_next_ones(run: Run, namespace: str) -> None:
    run("apply", "-f", "-", stdin=CRD)
    done = run("apply", "-n", namespace, "-f", "-", stdin=f"{boat('a', 0)}---\n{boat('b')}")
    assert done.code == 1
    assert 'The Boat "a" is invalid: spec.length' in done.err
    assert done.out == "boat.cli.example.com/b created\n"


def test_an_unknown_field_is_refused(run: Run, namespace: str) -> None:
    text = config_map("a") + "colour: red\n"
    strict = run("apply", "-n", namespace, "-f", "-", stdin=text)
    assert (strict.code, ".colour: field not declared in schema" in strict.err) == (1, True)


def test_a_dry_run_stores_nothing(run: Run, namespace: str) -> None:
    done = run("apply", "-n", namespace, "-f", "-", "--dry-run=server", stdin=config_map("a"))
    assert done.out == "configmap/a created (server dry run)\n"
    assert run("get", "cm", "a", "-n", namespace).code == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no objects passed"),
        ("kind: ConfigMap\n", "apiVersion is missing"),
        ("a: [\n", "document 1: yaml: line 1"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n- 1\n", "an object must be a map"),
        ("apiVersion: v1\nkind: Nothing\nmetadata: {name: a}\n", 'no matches for kind "Nothing" in version "v1"'),
        ("apiVersion: v1\nkind: ConfigMap\n", "a ConfigMap has no name"),
    ],
    ids=["empty", "no apiVersion", "broken YAML", "a list", "unknown kind", "no name"],
)
def test_bad_manifests_name_the_fault(run: Run, text: str, message: str) -> None:
    done = run("apply", "-f", "-", stdin=text)
    assert done.code == 1
    assert message in done.err


def test_folders_are_read_in_order(run: Run, namespace: str, manifest: Callable[..., str]) -> None:
    manifest(config_map("b"), "2.yaml")
    folder = manifest(config_map("a"), "1.yaml").rpartition("/")[0]
    assert run("apply", "-n", namespace, "-f", folder).lines == ["configmap/a created", "configmap/b created"]


@pytest.mark.parametrize(
    ("metadata", "output"),
    [
        ("{name: y}", "metadata.name must be a string"),
        ("{name: a, namespace: 5}", "metadata.namespace must be"),
        ("5", "metadata must be a map"),
    ],
    ids=["a name that YAML takes for true", "a number", "no metadata"],
)
def test_metadata_that_is_something_else_is_reported(run: Run, metadata: str, output: str) -> None:
    done = run("apply", "-f", "-", stdin=f"apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\n")
    assert done.code == 1
    assert done.err.startswith("error: error parsing STDIN: metadata")
    assert output in done.err


def test_urls_are_not_supported(run: Run) -> None:
    done = run("apply", "-f", "https://example.com/a.yaml")
    assert (done.code, done.err) == (
        1,
        "error: https://example.com/a.yaml: URLs are not supported; download the file and use -f -\n",
    )


def test_a_missing_file_is_named(run: Run) -> None:
    done = run("apply", "-f", "no/such/file.yaml")
    assert (done.code, done.err) == (1, 'error: the path "no/such/file.yaml" does not exist\n')
