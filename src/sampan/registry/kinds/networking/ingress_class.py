"""Ingress classes. Source: pkg/registry/networking/ingressclass, pkg/apis/networking/{v1,validation} (1.36)."""

from __future__ import annotations

from typing import Final

from sampan.core.field import Path, forbidden, invalid, required, too_long
from sampan.core.validation.domains import domain_prefixed_path_errors
from sampan.core.validation.names import dns1123_label_errors
from sampan.kinds import networking_v1
from sampan.registry.columns.cells import EMPTY, NONE, at, column, name_of
from sampan.registry.kind import Kind
from sampan.registry.kinds.networking.ingress import check_typed_reference
from sampan.registry.rules.fields import Errors, check_immutable, not_supported
from sampan.registry.strategy import Context, Strategy

_CONTROLLER = Path("spec", "controller")
_PARAMETERS = Path("spec", "parameters")
_CONTROLLER_LENGTH_MAX = 250


def _check_parameters(parameters: networking_v1.IngressClassParametersReference, path: Path, errors: Errors) -> None:
    check_typed_reference(parameters, path, errors)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    at = path.child("namespace")
    if scope is None:
        errors.append(required(path.child("scope")))
    elif scope == "Namespace":
        if namespace is None:
            errors.append(required(at, "`parameters.scope` is set to 'Namespace'"))
        else:
            errors.extend(invalid(at, namespace, text) for text in dns1123_label_errors(namespace))
    elif scope == "Cluster":
        if namespace is not None:
            errors.append(forbidden(at, "`parameters.scope` is set to 'Cluster'"))
    else:
        errors.append(not_supported(path.child("scope"), scope, ("Cluster", "Namespace")))


class IngressClassStrategy(Strategy):
    """Defaults and rules of ingress classes. The controller is immutable."""

    def default(self, obj: networking_v1.IngressClass) -> None:
        """Set defaults: parameters are cluster-scoped."""
        parameters = obj.get("spec", {}).get("parameters")
        if parameters is not None:
            parameters.setdefault("scope", "Cluster")

    def check(self, ctx: Context, obj: networking_v1.IngressClass, errors: Errors) -> None:
        spec = obj.get("spec", {})
        controller = spec.get("controller", "")
        if len(controller) > _CONTROLLER_LENGTH_MAX:
            errors.append(too_long(_CONTROLLER, "", _CONTROLLER_LENGTH_MAX))
        errors.extend(domain_prefixed_path_errors(_CONTROLLER, controller))
        if "parameters" in spec:
            _check_parameters(spec["parameters"], _PARAMETERS, errors)

    def check_update(
        self, ctx: Context, obj: networking_v1.IngressClass, old: networking_v1.IngressClass, errors: Errors
    ) -> None:
        """Check an update: the controller is immutable."""
        new, before = obj.get("spec", {}).get("controller", ""), old.get("spec", {}).get("controller", "")
        check_immutable(new, before, _CONTROLLER, errors)
        self.check(ctx, obj, errors)


def _class_name(ingress_class: networking_v1.IngressClass) -> str:
    annotations = ingress_class["metadata"].get("annotations", EMPTY)
    default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    return f"{name_of(ingress_class)} (default)" if default else name_of(ingress_class)


def _parameters(ingress_class: networking_v1.IngressClass) -> str:
    parameters = ingress_class.get("spec", EMPTY).get("parameters")
    if parameters is None:
        return NONE
    kind = parameters.get("kind", "")
    if "apiGroup" in parameters:
        kind += f".{parameters['apiGroup']}"
    return f"{kind}/{parameters.get('name', '')}"


KINDS: Final = (
    Kind(
        "networking.k8s.io",
        "ingressclasses",
        IngressClassStrategy(),
        columns=lambda ages: (
            column("Name", _class_name, format="name"),
            column("Controller", at("spec", "controller")),
            column("Parameters", _parameters),
            ages.column,
        ),
    ),
)
