"""Tests of suggestions for mistyped names."""

import pytest

from sampan.core.suggestions import closest

OPTIONS = [
    "--data", "--bind", "--bind-address", "--port", "--storage", "--nodes", "--node-runtime", "--namespace",
    "--all-namespaces", "--filename", "--cluster-dns", "--cluster-domain", "--cluster-cidr", "--controllers",
    "--scheduler", "--proxy-loopback", "--log-level", "--log-format", "--output", "--selector", "--sort-by",
]  # fmt: skip
COMMANDS = ["up", "get", "join", "leave", "node", "apply", "delete", "describe", "test", "token", "wait", "status"]
TYPES = ["pods", "pod", "nodes", "node", "services", "service", "deployments", "deployment", "configmaps", "secrets"]


@pytest.mark.parametrize(
    ("word", "names", "meant"),
    [
        ("--prot", OPTIONS, "--port"),
        ("--namspace", OPTIONS, "--namespace"),
        ("--all-namespce", OPTIONS, "--all-namespaces"),
        ("--namespaces", OPTIONS, "--namespace"),
        ("--outptu", OPTIONS, "--output"),
        ("--cluster-domian", OPTIONS, "--cluster-domain"),
        ("--cluster-cird", OPTIONS, "--cluster-cidr"),
        ("--controler", OPTIONS, "--controllers"),
        ("--node", OPTIONS, "--nodes"),
        ("--log_level", OPTIONS, "--log-level"),
        ("--bind-adress", OPTIONS, "--bind-address"),
        ("--selectro", OPTIONS, "--selector"),
        ("--lisen", OPTIONS, None),
        ("--xyz", OPTIONS, None),
        ("gt", COMMANDS, "get"),
        ("upp", COMMANDS, "up"),
        ("aply", COMMANDS, "apply"),
        ("dlete", COMMANDS, "delete"),
        ("desribe", COMMANDS, "describe"),
        ("satus", COMMANDS, "status"),
        ("", COMMANDS, None),
        ("pdos", TYPES, "pods"),
        ("deploymnet", TYPES, "deployment"),
        ("Servics", TYPES, "services"),
        ("cofigmaps", TYPES, "configmaps"),
    ],
)
def test_a_mistyped_name_gets_the_name_that_was_meant(word: str, names: list[str], meant: str | None) -> None:
    assert closest(word, names) == meant


def test_a_name_that_starts_alike_goes_before_one_with_as_many_common_letters() -> None:
    assert closest("stat", ["tats", "stas"]) == "stas"
