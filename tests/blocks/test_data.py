"""YAML, TOML and JSON of the documents: all can be read, and a server accepts the manifests (`dryRun=All`)."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from sampan.client import Client, NoMatch
from sampan.testing import Cluster
from tests.blocks.coverage import run_here
from tests.blocks.document import ROOT, documents

READ_ONLY = frozenset(
    {
        "apiserver.config.k8s.io",
        "audit.k8s.io",
        "config.sampan.dev",
        "kubelet.config.k8s.io",
    }
)
"""Groups of files for programs, which no server has."""
DATA = {
    document: found
    for document in documents()
    if (found := [each for each in run_here(document) if each.language in ("yaml", "toml", "json")])
}


def manifests(document: str) -> list[dict[str, Any]]:
    """Return the objects of the YAML blocks. Raises an error with the position of what cannot be read."""
    found = []
    for block in DATA[document]:
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "json":
            json.loads(block.text)
        else:
            found += [each for each in yaml.safe_load_all(block.text) if each is not None]
    return [dict(each) for each in found if isinstance(each, Mapping) and {"apiVersion", "kind"} <= each.keys()]


def group_of(obj: Mapping[str, Any]) -> str:
    group, separator, _ = obj["apiVersion"].partition("/")
    return group if separator else ""


async def is_served(client: Client, obj: Mapping[str, Any]) -> bool:
    """Return True if the server has the kind of an object."""
    try:
        await client.resource_for(obj)
    except NoMatch:
        return False
    return True


@pytest.mark.parametrize("document", sorted(DATA))
async def test_a_server_accepts_the_manifests(document: str, cluster: Cluster) -> None:
    objects = [each for each in manifests(document) if group_of(each) not in READ_ONLY]
    if any(each["kind"] == "Boat" for each in objects):
        await cluster.crds(ROOT / "examples/boats/crd.yaml")
    for obj in objects:
        if obj["kind"] == "CustomResourceDefinition":
            await cluster.crds(obj)
        elif obj["kind"] == "Namespace":
            await cluster.apply(obj)
    client = cluster.admin().with_defaults(dry_run=True, field_validation="Strict")
    for obj in objects:
        if group_of(obj).endswith(".example.com") and not await is_served(client, obj):
            continue  # The reader's kind, whose CRD is not in the document.
        resource = await client.resource_for(obj, namespace=obj["metadata"].get("namespace"))
        await resource.apply(obj, field_manager="test", force=True)
