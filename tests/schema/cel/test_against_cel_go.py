"""Expressions of the tests of CEL's specification, cel-go and Kubernetes: the results are those of cel-go.

A Go program compiles and evaluates about 6,600 expressions as kube-apiserver does. It finds them in Go's modules, which
it downloads; `expressions.txt` has more. `make fuzz` runs it. Without Go or the modules, the test is skipped.
"""

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.go_build import build
from tests.schema.cel.differences import Difference, differences

PROJECT = Path(__file__).parents[2] / "e2e" / "cel"
OWN = Path(__file__).parent / "expressions.txt"
MODULES = ("cel.dev/expr", "github.com/google/cel-go", "k8s.io/apiserver")
TIMEOUT_S = 300

pytestmark = pytest.mark.hypothesis


@dataclass(frozen=True, slots=True)
class Known:
    """Differences for one reason. `count` may only fall."""

    reason: str
    property: str
    pattern: str
    """Regular expression that occurs in the expression or in one of the results."""
    count: int

    def covers(self, difference: Difference) -> bool:
        """Report whether the difference is one of these."""
        text = f"{difference.expression}\n{difference.real}\n{difference.ours}"
        return self.property == difference.property and re.search(self.pattern, text, re.DOTALL) is not None


KNOWN = (
    Known("keys of maps are Python's: 1, 1u and true are one key", "value", r"uint\(2\)|dyn\(1u\)|dyn\(true\)", 3),
    Known("keys of maps are Python's: lists and maps are refused", "value", "unsupported key type", 7),
    Known("keys of maps are refused before they are looked up", "failure", "unsupported key type", 1),
    Known("sorting costs by the length, so that its time is bounded", "cost", r"\.sort\(\)", 5),
    Known("a part fails, and the result does not depend on it", "cost", r"^(x\[.claims.\]|obj\.s ==)", 3),
    Known("has() of a field of an optional that is the value of a map", "cost", r"^has\(\{'foo': optional", 2),
    Known("100 levels of brackets: the parser is recursive", "invalid", "recursion limit exceeded: 100", 1),
    Known("the type parameter of a name of a type", "invalid", r"type\(list\(A\)\)", 1),
    Known("a variable where a message's name belongs", "invalid", "'dyn' is not a type", 3),
    Known("no message google.protobuf.Empty", "invalid", r"google\.protobuf\.Empty", 2),
    Known("Any has no value without its type", "failure", r"^google\.protobuf\.Any\{", 4),
    Known("no enums: type", "type", "NULL_VALUE", 1),
    Known("no enums: value", "value", "NULL_VALUE", 1),
    Known("the state of the address parser", "failure", "ParseAddr|ParsePrefix", 6),
    Known("cel-go panics", "failure", "internal error", 2),
)


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Difference]:
    """Return all differences."""
    if request.config.getoption("--hypothesis-profile") != "fuzz":
        pytest.skip("part of make fuzz: it builds a Go program of Kubernetes' modules")
    program = build(PROJECT, tmp_path_factory.mktemp("cel") / "cel", "build", ".")
    listed = subprocess.run(
        ["go", "list", "-m", "-f", "{{.Dir}}", *MODULES], cwd=PROJECT, check=True, capture_output=True, text=True
    )
    with OWN.open() as lines:
        done = subprocess.run(
            [program, *listed.stdout.split()],
            stdin=lines,
            check=True,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) > 6_000
    return [difference for result in results for difference in differences(result)]


def test_each_difference_from_cel_go_is_known(found: list[Difference]) -> None:
    unknown = [each for each in found if not any(known.covers(each) for known in KNOWN)]
    assert unknown == []


def test_the_list_of_known_differences_only_shrinks(found: list[Difference]) -> None:
    counts = Counter(next((known.reason for known in KNOWN if known.covers(each)), "") for each in found)
    assert {known.reason: counts[known.reason] for known in KNOWN} == {known.reason: known.count for known in KNOWN}
