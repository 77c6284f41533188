"""Make `resources.json`: the resources that kube-apiserver serves, in the order of its discovery."""

import json
from collections.abc import Iterator
from typing import Any

from scripts.kinds.sources import Sources

Row = dict[str, Any]


def content(sources: Sources) -> bytes:
    """Return the content of `resources.json`."""
    lines = [json.dumps(row, separators=(",", ":")) for row in rows(sources)]
    return ("[\n " + ",\n ".join(lines) + "\n]\n").encode()


def rows(sources: Sources) -> Iterator[Row]:
    """Return a row for each resource and subresource. `kindGroup` and `kindVersion` name a kind of another group."""
    yield from _rows("", "v1", sources.discovery("api__v1"))
    for group in sources.discovery("apis")["groups"]:
        for served in group["versions"]:
            document = sources.discovery(f"apis__{group['name']}__{served['version']}")
            yield from _rows(group["name"], served["version"], document)


def _rows(group: str, version: str, document: Row) -> Iterator[Row]:
    for resource in document["resources"]:
        row = {"group": group, "version": version, "resource": resource["name"], "kind": resource["kind"]}
        if resource["singularName"]:
            row["singular"] = resource["singularName"]
        row["scope"] = "Namespaced" if resource["namespaced"] else "Cluster"
        row["verbs"] = resource["verbs"]
        row.update({key: resource[key] for key in ("shortNames", "categories") if key in resource})
        if resource.get("group", group) != group:
            row |= {"kindGroup": resource["group"], "kindVersion": resource["version"]}
        yield row
