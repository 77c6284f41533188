"""`Hook`: one webhook, and the configurations that register it with API servers.

Source: k8s.io/api admissionregistration/v1 types.go (1.36); controller-runtime pkg/builder/webhook.go (0.24).
"""

import enum
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict, TypeVar, get_type_hints

from sampan.core.gvk import GroupVersionKind, GroupVersionResource
from sampan.operator.webhook.admission import Operation
from sampan.resource import Object, ResourceInfo

F = TypeVar("F", bound=Callable[..., Any])

GROUP: Final = "admissionregistration.k8s.io"
API_VERSION: Final = f"{GROUP}/v1"


class HookKind(enum.Enum):
    """Kind of a webhook; the value is the kind of its configuration."""

    MUTATING = "MutatingWebhookConfiguration"
    VALIDATING = "ValidatingWebhookConfiguration"

    @property
    def verb(self) -> str:
        """Verb in paths and names."""
        return "mutate" if self is HookKind.MUTATING else "validate"

    @property
    def info(self) -> ResourceInfo:
        """Resource of its configurations."""
        return ResourceInfo(GroupVersionResource(GROUP, "v1", f"{self.value.lower()}s"), self.value, namespaced=False)


class HookOptions(TypedDict, total=False):
    """Options of a registration, which go into the configuration unchanged."""

    operations: Sequence[Operation]
    """CREATE and UPDATE by default; also DELETE for a `Validator` with `on_delete`."""
    subresources: Sequence[str]
    """`status`, `*`, …: in addition to the object itself."""
    failure_policy: str
    """`Fail` (the default) refuses requests if the webhook is unreachable; `Ignore` lets them pass."""
    side_effects: str
    """`None` (the default), or `NoneOnDryRun`."""
    match_policy: str
    timeout_seconds: int
    namespace_selector: Mapping[str, Any]
    object_selector: Mapping[str, Any]
    match_conditions: Sequence[Mapping[str, str]]
    """CEL: `{"name": …, "expression": …}`."""
    reinvocation_policy: str
    """`IfNeeded`: call a mutating webhook again if a later one has changed the object."""
    name: str
    """Name of the webhook in its configuration, with at least three parts."""
    path: str


def with_hook_options(function: F) -> F:
    """Decorate a function with `**options: Unpack[HookOptions]`: its signature, which `help` prints, names them."""
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=..., annotation=annotation)
        for name, annotation in get_type_hints(HookOptions).items()
    ]
    given: Any = function
    given.__signature__ = signature.replace(parameters=[*own, *named])
    return function


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook of a configuration."""

    kind: HookKind
    info: ResourceInfo
    options: HookOptions = field(default_factory=HookOptions)

    def __post_init__(self) -> None:
        """Raises `TypeError` for an unknown option."""
        unknown = sorted(set(self.options) - set(HookOptions.__annotations__))
        if unknown:
            raise TypeError(f"unknown options {', '.join(unknown)}; there are {', '.join(HookOptions.__annotations__)}")

    @property
    def path(self) -> str:
        """Path of the webhook."""
        return self.options.get("path") or path_of(self.kind, self.info.gvk)

    @property
    def name(self) -> str:
        """Name in the configuration."""
        gvk = self.info.gvk
        default = f"{self.kind.verb}.{gvk.kind.lower()}.{gvk.version}.{gvk.group or 'core'}"
        return self.options.get("name") or default

    def entry(self, client_config: Object) -> Object:
        """Return the webhook's entry in its configuration."""
        options = self.options
        gvr = self.info.gvr
        resources = [gvr.resource, *(f"{gvr.resource}/{name}" for name in options.get("subresources", ()))]
        operations = options.get("operations", (Operation.CREATE, Operation.UPDATE))
        entry: Object = {
            "name": self.name,
            "admissionReviewVersions": ["v1"],
            "clientConfig": client_config,
            "failurePolicy": options.get("failure_policy", "Fail"),
            "sideEffects": options.get("side_effects", "None"),
            "rules": [
                {
                    "apiGroups": [gvr.group],
                    "apiVersions": [gvr.version],
                    "operations": [str(operation) for operation in operations],
                    "resources": resources,
                    # The server's default. Rules are an atomic list: two managers that apply the same rules without it
                    # would conflict with what the server has stored.
                    "scope": "*",
                }
            ],
        }
        for name, key in _OPTIONAL.items():
            if name in options:
                entry[key] = options[name]  # type: ignore[literal-required]  # the names are those of the TypedDict
        return entry


_OPTIONAL: Final = {
    "match_policy": "matchPolicy",
    "timeout_seconds": "timeoutSeconds",
    "namespace_selector": "namespaceSelector",
    "object_selector": "objectSelector",
    "match_conditions": "matchConditions",
    "reinvocation_policy": "reinvocationPolicy",
}


def path_of(kind: HookKind, gvk: GroupVersionKind) -> str:
    """Return the path in controller-runtime's format: `/mutate-apps-v1-deployment`, `/validate--v1-pod`."""
    return f"/{kind.verb}-{gvk.group.replace('.', '-')}-{gvk.version}-{gvk.kind.lower()}"


def configuration_of(
    kind: HookKind,
    name: str,
    hooks: Sequence[Hook],
    client_config: Callable[[str], Object],
    namespaces: Sequence[str] = (),
) -> Object | None:
    """Return the configuration of all webhooks of a kind; None if there are none.

    `client_config` is called with each path. With `namespaces`, webhooks without a namespaceSelector get one for these.
    """
    entries = [hook.entry(client_config(hook.path)) for hook in hooks if hook.kind is kind]
    if namespaces:
        entries = [{**each, "namespaceSelector": each.get("namespaceSelector") or _in(namespaces)} for each in entries]
    if not entries:
        return None
    return {"apiVersion": API_VERSION, "kind": kind.value, "metadata": {"name": name}, "webhooks": entries}


def _in(namespaces: Sequence[str]) -> Object:
    """Return the selector of namespaces by their names. Source: core/v1 well-known labels (1.36)."""
    name = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(namespaces)}
    return {"matchExpressions": [name]}
