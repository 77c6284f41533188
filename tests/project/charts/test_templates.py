"""Objects as templates of a chart, tested without Helm."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from sampan.project.bundle.helm.chart import chart_files
from sampan.project.bundle.helm.references import ReferenceRewriter
from sampan.project.bundle.helm.template import AT, Expression, Lines, When, literal, to_template
from sampan.project.bundle.helm.workload import ImageName
from tests.project.charts.projects import make_boats, objects_of

NAMES = ReferenceRewriter("boats", "boats-system", "boats")


@pytest.mark.parametrize(
    "value",
    ["", "on", "No", "null", "~", "1", "1e3", "0x1", "a: b", "# a", "- a", "a\nb\n", "ä\u2028b", "'", '"', "a\\b",
     "\x7f", "@", "{a}", "!x", "&x", "*x", "%", "=", "<<", "2026-01-05", "12:30:45"],
)  # fmt: skip
def test_a_text_stays_a_text(value: str) -> None:
    tree = {"key": value, value or "empty": [value, {"a": value}]}
    assert yaml.safe_load(to_template(tree)) == tree


def test_braces_are_not_evaluated() -> None:
    assert to_template({"a": "x {{ y }}"}) == 'a: "x {{ "{{" }} y {{ "}}" }}"\n'


def test_expressions_conditions_and_lines_have_their_indentation() -> None:
    node = {"a": Expression("$.x"), "b": When("$.y", [1, When("$.z", 2)]), "c": [Lines(f"{{{{ f | nindent {AT} }}}}")]}
    assert to_template({"top": node}) == (
        "top:\n  a: {{ $.x | quote }}\n  {{- if $.y }}\n  b:\n  - 1\n  {{- if $.z }}\n  - 2\n"
        "  {{- end }}\n  {{- end }}\n  c:\n  {{ f | nindent 2 }}\n"
    )


def test_literals_are_arguments() -> None:
    assert literal({"a": Expression("f $"), "b": 'c"d'}) == '(dict "a" (f $) "b" "c\\"d")'


def changed(obj: dict[str, Any]) -> dict[str, Any]:
    return NAMES.rewritten({"kind": "ConfigMap", "metadata": {"name": "boats"}, **obj})


@pytest.mark.parametrize(
    ("obj", "path", "call"),
    [
        ({}, "metadata.name", 'include "boats.name" (list $ "")'),
        ({"spec": {"secretName": "boats-webhook"}}, "spec.secretName", 'include "boats.name" (list $ "-webhook")'),
        ({"spec": {"namespace": "boats-system"}}, "spec.namespace", "$.Release.Namespace"),
        (
            {"spec": {"a": "boats-webhook.boats-system.svc"}},
            "spec.a",
            'printf "%s.%s.svc" (include "boats.name" (list $ "-webhook")) $.Release.Namespace',
        ),
        (
            {"spec": {"a": "--b=boats-system/boats"}},
            "spec.a",
            'printf "--b=%s/%s" $.Release.Namespace (include "boats.name" (list $ ""))',
        ),
    ],
)
def test_a_reference_follows_the_release(obj: dict[str, Any], path: str, call: str) -> None:
    found: Any = changed(obj)
    for part in path.split("."):
        found = found[part]
    assert found == Expression(call)


@pytest.mark.parametrize(
    "spec",
    [
        {"roleRef": {"kind": "ClusterRole", "name": "system:auth-delegator"}},
        {"secretName": "boatsman"},
        {"namespace": "kube-system"},
        {"command": ["python3", "-m", "boats"]},
        {"rules": [{"apiGroups": ["boats.example.com"], "resources": ["boats"], "verbs": ["get"]}]},
        {"args": ["--log-levels=boats=debug"]},
    ],
)
def test_the_same_word_elsewhere_stays(spec: dict[str, Any]) -> None:
    assert changed({"spec": spec})["spec"] == spec


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("a.example.com:5000/b/c:1.0", ImageName("a.example.com:5000/b/c", "1.0", "")),
        ("c", ImageName("c", "", "")),
        ("a:1/b@sha256:0", ImageName("a:1/b", "", "sha256:0")),
        ("b:2@sha256:0", ImageName("b", "2", "sha256:0")),
    ],
)
def test_an_image_has_its_parts(text: str, image: ImageName) -> None:
    assert ImageName.parse(text) == image


def test_the_same_project_gives_the_same_chart(tmp_path: Path) -> None:
    project = make_boats(tmp_path)
    first, second = (chart_files(objects_of(project)) for _ in range(2))
    assert first == second
    assert str(tmp_path) not in "".join(first.values())
