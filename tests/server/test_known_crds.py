"""CRDs of well-known projects are taken.

`known_crds.txt` has their names. The files are not in the repository: `SAMPAN_TEST_CRDS` may name a directory of YAML
files (in any subdirectories). All CRDs in it that are on the list are created in a dry run. What some of them need, and
once was refused, is below in rules of the smallest size.
"""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.server.cluster import Api
from tests.server.custom_resources import CRDS, crd, version
from tests.server.verbs.conftest import api

__all__ = ["api"]

DIRECTORY = os.environ.get("SAMPAN_TEST_CRDS", "")
LINES = (Path(__file__).parent / "known_crds.txt").read_text().splitlines()
TEMPLATE = re.compile(r"^\s*([\w-]+: )?\{\{", re.MULTILINE)
"""A template of Helm."""
PROJECTS = [line for line in LINES if line[0] not in " #"]
NAMES = {line.strip() for line in LINES if line.startswith(" ")}


def documents(directory: Path) -> list[tuple[str, bytes]]:
    """The known CRDs in a directory of YAML files: name and text."""
    found = []
    for file in sorted([*directory.rglob("*.yaml"), *directory.rglob("*.yml")]):
        for document in ("\n" + file.read_text(errors="replace")).split("\n---"):
            if TEMPLATE.search(document):
                continue
            head = yaml.compose(document.partition("\nspec:")[0]) if "\nspec:" in document else None
            fields = {key.value: value for key, value in head.value} if isinstance(head, yaml.MappingNode) else {}
            if "metadata" in fields and "\nkind: CustomResourceDefinition" in document and "\n  versions:" in document:
                metadata = {key.value: value.value for key, value in fields["metadata"].value}
                if fields["apiVersion"].value == "apiextensions.k8s.io/v1" and metadata.get("name") in NAMES:
                    found.append((metadata["name"], document.encode()))
    return found


def test_the_list_has_many_projects() -> None:
    assert len(PROJECTS) >= 25
    assert len(NAMES) >= 400


@pytest.mark.skipif(not DIRECTORY, reason="SAMPAN_TEST_CRDS names no directory with the CRDs of known projects")
async def test_the_crds_of_known_projects_are_taken(api: Api) -> None:
    refused = []
    taken = set()
    for name, text in documents(Path(DIRECTORY)):
        response = await api.fetch("POST", f"{CRDS}?dryRun=All", text, content_type="application/yaml")
        if response.code == 201:
            taken.add(name)
        else:
            refused.append(f"{name}: {response.message}")
    assert not refused
    assert taken


ADDRESSES = {
    "type": "array",
    "maxItems": 256,
    "items": {"type": "string", "maxLength": 64},
}
UNBOUNDED = {"type": "array", "items": {"type": "string"}}


def with_rule(rule: str, **properties: Any) -> Any:
    """A CRD whose spec has the rule."""
    spec = {"type": "object", "properties": properties, "x-kubernetes-validations": [{"rule": rule}]}
    return crd(version("v1", {"type": "object", "properties": {"spec": spec}}))


@pytest.mark.parametrize(
    "rule",
    [
        "!(has(self.a) ? self.a : []).exists(k, k.contains('/'))",
        "(has(self.a) ? self.a : []).all(k, k.startsWith('x') && k.endsWith('y'))",
        "(has(self.a) ? self.a : self.b).exists(k, k.matches('^[a-z]+$'))",
        "(self.a + self.b).all(k, k.contains('/'))",
        "self.a.map(k, k + 'x').exists(k, k.contains('/'))",
        "self.a.filter(k, k != '').all(k, k.size() < 10)",
        "['a', 'b'].exists(k, k.contains('/'))",
    ],
)
async def test_rules_that_iterate_over_an_expression_are_taken(api: Api, rule: str) -> None:
    response = await api.post(CRDS, with_rule(rule, a=ADDRESSES, b=ADDRESSES))
    assert response.code == 201, response.body


@pytest.mark.parametrize(
    "rule",
    [
        "self.u.all(k, self.u.all(l, k == l))",
        "self.u.exists(k, self.u.exists(l, k.contains(l)))",
        "(has(self.u) ? self.u : []).all(k, self.u.all(l, self.u.all(m, l == m)))",
    ],
)
async def test_rules_over_lists_without_bounds_are_refused(api: Api, rule: str) -> None:
    response = await api.post(CRDS, with_rule(rule, u=UNBOUNDED))
    assert response.code == 422
    assert "exceeds budget" in response.message
