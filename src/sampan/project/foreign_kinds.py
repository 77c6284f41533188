"""Inputs of parts for kinds that a project does not declare: those of Kubernetes, and those of CRDs.

This module is separate, because the catalogue of Kubernetes' kinds and the client take long to import.
"""

from pathlib import Path
from typing import Any

from sampan.client.objects.manifests import ManifestError, read_manifests
from sampan.project.create import layout
from sampan.project.errors import ProjectError
from sampan.project.names import check_kind, check_version, is_version
from sampan.project.pyproject import Settings
from sampan.registry.builtins import Builtins


def controller_inputs(settings: Settings, watched: str) -> dict[str, Any]:
    """Return the inputs of a controller of a kind of Kubernetes: `apps/Deployment`, `Secret`, `batch/v1/Job`.

    Raises `ProjectError` for another kind.
    """
    *place, kind = watched.split("/")
    version = place.pop() if place and is_version(place[-1]) else ""
    group = place[0] if place else ""
    for each in Builtins().definitions:
        if (each.kind, each.group) == (kind, group) and (not version or version in each.versions):
            chosen = version or ("v1" if "v1" in each.versions else next(iter(each.versions)))
            named = {"kind": kind, "group": group, "version": chosen, "resource": each.resource}
            return {**layout(settings), **named, "namespaced": each.namespaced}
    raise ProjectError(
        f"--watches {watched}: Kubernetes has no such kind; write GROUP/KIND, such as apps/Deployment or Secret. "
        "For a kind of a CRD: sampan create api --from crd.yaml --external"
    )


def import_inputs(
    settings: Settings, place: Path, *, external: bool, controller: bool, kind: str = ""
) -> dict[str, Any]:
    """Return the inputs of a kind from the CRD in a file. Raises `ProjectError`."""
    try:
        found = [each for each in read_manifests([str(place)]) if each.get("kind") == "CustomResourceDefinition"]
        crds = [each for each in found if not kind or each["spec"]["names"]["kind"] == kind]
        if len(crds) != 1:
            names = ", ".join(each["spec"]["names"]["kind"] for each in found) or "none"
            raise ProjectError(f"--from {place}: give --kind for one of its kinds: {names}")
        spec = crds[0]["spec"]
        stored = next(each["name"] for each in spec["versions"] if each["storage"])
        check_kind(spec["names"]["kind"])
        for version in spec["versions"]:
            check_version(version["name"])
    except ManifestError as error:
        raise ProjectError(f"--from {place}: {error}") from error
    except (KeyError, TypeError, StopIteration) as error:
        raise ProjectError(f"--from {place}: the CRD is incomplete: {error or 'no version is stored'}") from error
    head = {"name": crds[0]["metadata"]["name"], "annotations": crds[0]["metadata"].get("annotations") or {}}
    return {
        **layout(settings),
        "kind": spec["names"]["kind"],
        "group": spec["group"],
        "version": stored,
        "resource": spec["names"]["plural"],
        "namespaced": spec.get("scope") != "Cluster",
        "external": external,
        "controller": controller,
        "crd": {"apiVersion": crds[0]["apiVersion"], "kind": crds[0]["kind"], "metadata": head, "spec": spec},
    }
