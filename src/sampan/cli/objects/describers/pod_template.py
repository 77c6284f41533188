"""Pod templates of workloads."""

from collections.abc import Iterator
from typing import Any

from sampan.cli.objects.describers.containers import container_lines
from sampan.cli.objects.describers.describer import DescribedObject, Section, at, labelled
from sampan.cli.objects.describers.scheduling import spread_constraints, tolerations
from sampan.cli.objects.describers.values import annotations, labels
from sampan.cli.objects.describers.volumes import volume_lines

_INDENT = "  "


def template_at(path: str) -> Section:
    """Return the section that shows the Pod template at a path of the object."""

    def section(subject: DescribedObject) -> Iterator[str]:
        template: Any = at(subject.obj, path) or {}
        metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
        yield "Pod Template:"
        yield from labelled("Labels", labels(metadata.get("labels")), _INDENT)
        if metadata.get("annotations"):
            yield from labelled("Annotations", annotations(metadata["annotations"]), _INDENT)
        if spec.get("serviceAccountName"):
            yield f"{_INDENT}Service Account:\t{spec['serviceAccountName']}"
        if spec.get("initContainers"):
            yield from container_lines("Init Containers", spec["initContainers"], indent=_INDENT)
        yield from container_lines("Containers", spec.get("containers"), indent=_INDENT)
        yield from volume_lines(spec.get("volumes"), _INDENT)
        yield from spread_constraints(spec, _INDENT)
        if spec.get("priorityClassName"):
            yield f"{_INDENT}Priority Class Name:\t{spec['priorityClassName']}"
        yield from labelled("Node-Selectors", labels(spec.get("nodeSelector")), _INDENT)
        yield from labelled("Tolerations", tolerations(spec.get("tolerations")), _INDENT)

    return section


pod_template = template_at("spec.template")
