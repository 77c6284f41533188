"""The admission chain: plug-ins in their order; the first refusal refuses the request.

Mutating plug-ins run one after the other; when one of them asks for it (`Attributes.reinvoke`) all run once more. Then
the validating ones run. A plug-in may be both.
Source: apiserver pkg/admission/{interfaces,chain}.go, pkg/admission/plugin/webhook/mutating/reinvocationcontext.go
(1.36).
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, ClassVar, Protocol, runtime_checkable

from sampan.core.gvk import GroupVersionKind, GroupVersionResource
from sampan.core.object import Object
from sampan.registry.endpoint import Endpoint
from sampan.server.admission.metrics import AdmissionMetrics
from sampan.server.request import UserInfo

OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
_CONCERNED_MAX = 16_384
"""Of resources that are gone some is kept; at the bound all is found anew."""


@dataclass(slots=True)
class Attributes:
    """What an admission plug-in is asked about. `obj` is None for a delete, `old` for a create; both in the hub
    version of `endpoint`. For CONNECT `obj` is the options of the subresource (PodExecOptions).
    """

    operation: str
    """CREATE, UPDATE, DELETE or CONNECT."""
    gvk: GroupVersionKind
    """As the request names it; of a subresource with a kind of its own: that kind."""
    gvr: GroupVersionResource
    namespace: str
    name: str
    subresource: str
    user: UserInfo | None
    dry_run: bool
    obj: Object | None = None
    old: Object | None = None
    endpoint: Endpoint | None = None
    """Converts between the hub and the request's version. None only where a test has none."""
    options: Object | None = None
    """CreateOptions, UpdateOptions or DeleteOptions as the request sent them; None for CONNECT."""
    warnings: list[str] = field(default_factory=list)
    """Texts for the client; the request's own list."""
    annotations: dict[str, str] = field(default_factory=dict)
    """Of the request's audit event; the request's own dict."""
    latencies: dict[str, float] = field(default_factory=dict)
    """Of the request."""
    body_annotations: dict[str, str] = field(default_factory=dict)
    """Of the audit event where it holds the bodies too; the request's own dict."""
    deadline: float = 0.0
    """Loop time at which the request must have been answered; 0 = none."""
    gone: Callable[[], Coroutine[Any, Any, None]] | None = None
    """Returns when the client has gone."""
    observer: "AdmissionObserver | None" = None
    """Observes the plug-ins of this request, such as a trace."""
    abandoned: bool = False
    """Whether the client was seen to be gone."""
    reinvoke: bool = False
    """Set by a mutating plug-in: run all mutating plug-ins once more."""
    is_reinvocation: bool = False
    """Whether this is that second run."""
    memory: dict[str, Any] = field(default_factory=dict)
    """What plug-ins keep from their first run to their second, each under its name."""


class AdmissionObserver(Protocol):
    """Observer of the plug-ins that a request passes."""

    def plugin(self, kind: str, name: str, attributes: Attributes) -> AbstractContextManager[Any]:
        """Return a context in which a plug-in admits (`kind` is admit) or validates."""


class Plugin(Protocol):
    """What every plug-in says of itself; it has `admit`, `validate` or both besides."""

    name: ClassVar[str]
    """As --enable-admission-plugins names it."""
    operations: ClassVar[frozenset[str]]
    resources: ClassVar[frozenset[tuple[str, str]] | None]
    """(group, resource) of which it wants to hear; None: of all."""


@runtime_checkable
class MutatingPlugin(Plugin, Protocol):
    """Changes objects on their way in."""

    async def admit(self, attributes: Attributes) -> None:
        """Change `attributes.obj`, or put another one in its place. Raises `StatusError` to refuse."""


@runtime_checkable
class ValidatingPlugin(Plugin, Protocol):
    """Refuses what may not come in."""

    async def validate(self, attributes: Attributes) -> None:
        """Raises `StatusError` to refuse."""


@runtime_checkable
class ConfiguredPlugin(Plugin, Protocol):
    """One that does nothing until objects tell it what to do."""

    configured_by: ClassVar[tuple[tuple[str, str], ...]]
    """(group, resource) of these objects; built-in ones."""

    def is_configured(self) -> bool:
        """Whether there is anything to do for any request."""


Ask = Callable[[Attributes], Awaitable[None]]
Observe = Callable[[float], None]
"""Takes seconds."""


@dataclass(frozen=True, slots=True)
class Concerned:
    """The plug-ins that hear of one operation on one resource."""

    mutating: tuple[MutatingPlugin, ...]
    validating: tuple[ValidatingPlugin, ...]
    admit: tuple[tuple[str, Ask, Observe], ...]
    """Of each mutating plug-in: its name, what asks it, and who hears how long that took."""
    validate: tuple[tuple[str, Ask, Observe], ...]


class AdmissionChain:
    """All plug-ins of a server, in their order. Those that nobody has configured are left out where it can be told."""

    def __init__(
        self,
        plugins: Sequence[Plugin] = (),
        metrics: AdmissionMetrics | None = None,
        configuration_changed: Callable[[], bool] | None = None,
    ) -> None:
        """`configuration_changed`: whether any of the objects that configure plug-ins was written since it was last
        asked; None: all plug-ins are always asked.
        """
        self.plugins = tuple(plugins)
        self._metrics = metrics or AdmissionMetrics()
        self._configuration_changed = configuration_changed
        self._concerned: dict[tuple[str, str, str], Concerned] = {}
        steps = self._metrics.steps
        self._idle = {
            (kind, operation): steps.observer((kind, operation, "false"))
            for kind in ("admit", "validate")
            for operation in OPERATIONS
        }

    def mutates(self, operation: str, gvr: GroupVersionResource) -> bool:
        """Whether `admit` would do anything."""
        self._look()
        return bool(self.concerned(operation, gvr).mutating)

    def validates(self, operation: str, gvr: GroupVersionResource) -> bool:
        """Whether `validate` would do anything."""
        self._look()
        return bool(self.concerned(operation, gvr).validating)

    def skip(self, kind: str, operation: str) -> None:
        """Count a step, `admit` or `validate`, in which nobody has anything to do."""
        self._idle[kind, operation](0.0)

    async def admit(self, attributes: Attributes) -> None:
        """Run the mutating plug-ins."""
        self._look()
        await self.admit_known(attributes)

    async def admit_known(self, attributes: Attributes) -> None:
        """As `admit`, right after `mutates`: the configuration has not changed since."""
        asks = self.concerned(attributes.operation, attributes.gvr).admit
        began, rejected = monotonic(), True
        try:
            await self._ask("admit", asks, attributes)
            if attributes.reinvoke:
                attributes.is_reinvocation = True
                await self._ask("admit", asks, attributes)
            rejected = False
        finally:
            self._metrics.observe_step("admit", attributes.operation, monotonic() - began, rejected)

    async def validate(self, attributes: Attributes) -> None:
        """Run the validating plug-ins."""
        began, rejected = monotonic(), True
        try:
            await self._ask("validate", self.concerned(attributes.operation, attributes.gvr).validate, attributes)
            rejected = False
        finally:
            self._metrics.observe_step("validate", attributes.operation, monotonic() - began, rejected)

    async def _ask(self, kind: str, asks: tuple[tuple[str, Ask, Observe], ...], attributes: Attributes) -> None:
        """One plug-in after the other, each timed."""
        observer = attributes.observer
        if observer is not None:
            asks = tuple((name, _observed(ask, observer, kind, name), observe) for name, ask, observe in asks)
        began = monotonic()
        for name, ask, observe in asks:
            try:
                await ask(attributes)
            except BaseException:
                self._metrics.plugin(name, kind, attributes.operation, rejected=True)(monotonic() - began)
                raise
            now = monotonic()
            observe(now - began)
            began = now

    def concerned(self, operation: str, gvr: GroupVersionResource) -> Concerned:
        """The plug-ins that want to hear of an operation on a resource, and have something to do."""
        key = (operation, gvr.group, gvr.resource)
        concerned = self._concerned.get(key)
        if concerned is None:
            plugins = [
                plugin
                for plugin in self.plugins
                if operation in plugin.operations
                and (plugin.resources is None or (gvr.group, gvr.resource) in plugin.resources)
                and self._is_awake(plugin)
            ]
            mutating = tuple(plugin for plugin in plugins if isinstance(plugin, MutatingPlugin))
            validating = tuple(plugin for plugin in plugins if isinstance(plugin, ValidatingPlugin))
            if len(self._concerned) >= _CONCERNED_MAX:
                self._concerned.clear()
            concerned = self._concerned[key] = Concerned(
                mutating,
                validating,
                tuple((each.name, each.admit, self._observe(each, "admit", operation)) for each in mutating),
                tuple((each.name, each.validate, self._observe(each, "validate", operation)) for each in validating),
            )
        return concerned

    def _observe(self, plugin: Plugin, kind: str, operation: str) -> Observe:
        return self._metrics.plugin(plugin.name, kind, operation, rejected=False)

    def _look(self) -> None:
        """Forget who is concerned when somebody has changed the configuration."""
        if self._configuration_changed is not None and self._configuration_changed():
            self._concerned.clear()

    def _is_awake(self, plugin: Plugin) -> bool:
        return self._configuration_changed is None or not isinstance(plugin, ConfiguredPlugin) or plugin.is_configured()


def _observed(ask: Ask, observer: AdmissionObserver, kind: str, name: str) -> Ask:
    async def observed(attributes: Attributes) -> None:
        with observer.plugin(kind, name, attributes):
            await ask(attributes)

    return observed


def configuring(plugins: Iterable[Plugin]) -> list[tuple[str, str]]:
    """The resources, each with its group, whose objects configure one of the plug-ins."""
    return sorted({each for plugin in plugins if isinstance(plugin, ConfiguredPlugin) for each in plugin.configured_by})
