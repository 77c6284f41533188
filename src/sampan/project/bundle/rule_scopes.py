"""`split_rules`: which rules of a role can be in Roles of single namespaces."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sampan.registry.catalogue import cluster_scoped_resources


def split_rules(rules: Sequence[Mapping[str, Any]], crds: Iterable[Mapping[str, Any]]) -> tuple[list[Any], list[Any]]:
    """Return the rules for resources in namespaces, and those for everything else.

    A resource that is neither built-in nor the operator's own counts as one in namespaces.
    """
    cluster = cluster_scoped_resources() | {
        (each["spec"]["group"], each["spec"]["names"]["plural"]) for each in crds if each["spec"]["scope"] == "Cluster"
    }
    namespaced: list[Any] = []
    clusterwide: list[Any] = []
    for rule in rules:
        for group in rule.get("apiGroups", ()):
            resources = rule.get("resources", ())
            without = [each for each in resources if (group, each.partition("/")[0]) in cluster]
            within = [each for each in resources if each not in without]
            for found, target in ((within, namespaced), (without, clusterwide)):
                if found:
                    target.append({**rule, "apiGroups": [group], "resources": found})
        if "nonResourceURLs" in rule:
            clusterwide.append(rule)
    return namespaced, clusterwide
