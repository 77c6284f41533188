"""`operator_objects`: all objects of an operator in a cluster. Every format and `sampan deploy` start from them.

Contract, for modules that build on it:

    settings = bundle_settings(project_at(Path.cwd()), {"image": "registry.example.com/team/boats:1.0"})
    found = operator_objects(settings)
    for obj in found.objects:       # plain dicts, in the order in which they are applied, after all patches
        ...
    found.of_kind("Deployment")     # those of a kind
    found.operator.manager          # the manager with all controllers, which does not run

- The same project gives equal objects on each machine. No object contains a key, a password or a time.
- `kubectl apply` of the objects, one after the other, installs the operator; in reverse order they are removed.
- Objects with a namespace name it. The operator's are in `settings.namespace`; Roles may be in others.
- The container is called `operator`, and its ports are `health`, `metrics` and `webhook`, if the operator has them.
"""

from dataclasses import dataclass
from typing import Final

from sampan.project.bundle import webhooks, workload
from sampan.project.bundle.loaded import LoadedOperator, load_operator
from sampan.project.bundle.patches import patched
from sampan.project.bundle.roles import operator_roles, user_roles
from sampan.project.bundle.settings import BundleSettings
from sampan.resource import Object

_RESTRICTED: Final = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}


@dataclass(frozen=True, slots=True)
class OperatorObjects:
    """Objects of an operator, with what they were made from."""

    settings: BundleSettings
    operator: LoadedOperator
    objects: tuple[Object, ...]
    """All objects, in the order in which they are applied."""

    def of_kind(self, kind: str) -> list[Object]:
        """Return the objects of a kind, in the order in which they are applied."""
        return [each for each in self.objects if each["kind"] == kind]


def operator_objects(settings: BundleSettings) -> OperatorObjects:
    """Return the objects of a project's operator. Nothing is written, and no server is used.

    It may be called while an event loop runs. Raises `ProjectError`.
    """
    return objects_from(settings, load_operator(settings))


def objects_from(settings: BundleSettings, operator: LoadedOperator) -> OperatorObjects:
    """Return the objects of an operator that was loaded with these settings, or with others of its Deployment alone.

    Raises `ProjectError`.
    """
    webhooks.check_service(settings, operator)
    found: list[Object | None] = [
        _namespace(settings),
        *webhooks.crds(settings, operator),
        _service_account(settings),
        *operator_roles(settings, operator),
        *user_roles(settings, operator),
        *webhooks.certificate(settings, operator),
        *workload.services(settings, operator),
        workload.deployment(settings, operator),
        workload.disruption_budget(settings),
        workload.network_policy(settings, operator) if settings.network_policy else None,
        workload.service_monitor(settings) if settings.service_monitor else None,
        *webhooks.configurations(settings, operator),
    ]
    labelled = [_labelled(settings, each) for each in found if each is not None]
    return OperatorObjects(settings, operator, tuple(patched(labelled, settings.patches)))


def _namespace(settings: BundleSettings) -> Object | None:
    if not settings.creates_namespace:
        return None
    metadata = {"name": settings.namespace, "labels": _RESTRICTED}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _service_account(settings: BundleSettings) -> Object:
    metadata = {"name": settings.name, "namespace": settings.namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def _labelled(settings: BundleSettings, obj: Object) -> Object:
    """Return an object with the labels that all have."""
    metadata = obj["metadata"]
    labels = {**workload.selector(settings), "app.kubernetes.io/managed-by": "sampan", **metadata.get("labels", {})}
    return {**obj, "metadata": {**metadata, "labels": labels}}
