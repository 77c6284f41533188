"""The admission chain: plug-ins in order. The first refusal refuses the request.

Mutating plug-ins run in sequence. If one of them sets `Attributes.reinvoke`, all mutating plug-ins run a second time.
Then the validating plug-ins run. A plug-in may be both.

Source: apiserver pkg/admission/{interfaces,chain}.go, pkg/admission/plugin/webhook/mutating/reinvocationcontext.go
(1.36).
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeGuard

import msgspec

from sampan.core.clock import monotonic
from sampan.core.gvk import GroupVersionKind, GroupVersionResource
from sampan.core.object import Object
from sampan.registry.endpoint import Endpoint
from sampan.server.admission.coverage import covers
from sampan.server.admission.metrics.metrics import AdmissionMetrics
from sampan.server.request import UserInfo

OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
_SELECTED_MAX = 16_384
"""Maximum number of entries in the cache of selected plug-ins. A full cache is cleared, because it may contain removed
resources.
"""


class Attributes(msgspec.Struct):
    """Request to admit. `obj` is None for a delete, `old` for a create. Both are in the hub version of `endpoint`.

    For CONNECT, `obj` has the options of the subresource (PodExecOptions).
    """

    operation: str
    """CREATE, UPDATE, DELETE or CONNECT."""
    gvk: GroupVersionKind
    """Kind of the request's object. For a subresource with a different kind (Scale), that kind."""
    gvr: GroupVersionResource
    namespace: str
    name: str
    subresource: str
    user: UserInfo | None
    dry_run: bool
    obj: Object | None = None
    old: Object | None = None
    endpoint: Endpoint | None = None
    """Converts between the hub and the request's version. None only in tests."""
    options: Object | None = None
    """CreateOptions, UpdateOptions or DeleteOptions of the request; None for CONNECT."""
    warnings: list[str] = []
    """Warnings for the client. This is the list of the request, not a copy."""
    annotations: dict[str, str] = {}
    """Annotations of the audit event. This is the dict of the request, not a copy."""
    latencies: dict[str, float] = {}
    """Seconds that parts of the request took, for the audit event."""
    body_annotations: dict[str, str] = {}
    """Annotations of audit events that contain the bodies. This is the dict of the request, not a copy."""
    deadline: float = 0.0
    """Loop time of the request's deadline; 0 = none."""
    gone: Callable[[], Coroutine[Any, Any, None]] | None = None
    """Waits until the client disconnects."""
    observer: "AdmissionObserver | None" = None
    """Observes the plug-ins of this request, such as a trace."""
    abandoned: bool = False
    """True if the client has disconnected."""
    reinvoke: bool = False
    """Set by a mutating plug-in to run all mutating plug-ins once more."""
    is_reinvocation: bool = False
    """True during the second run."""
    memory: dict[str, Any] = {}
    """State of plug-ins between the first and the second run, by plug-in name."""


class AdmissionObserver(Protocol):
    """Observes the plug-ins of a request."""

    def plugin(self, kind: str, name: str, attributes: Attributes) -> AbstractContextManager[Any]:
        """Return a context in which a plug-in admits (`kind` is admit) or validates."""


class AdmissionPlugin(Protocol):
    """Common part of all plug-ins. A plug-in also has `admit`, `validate` or both."""

    name: ClassVar[str]
    """Name for --enable-admission-plugins."""
    operations: ClassVar[frozenset[str]]

    @property
    def resources(self) -> frozenset[tuple[str, str]] | None:
        """Pairs of group and resource to admit; None: all. `coverage.LEFT_OUT` has exceptions."""


class MutatingPlugin(AdmissionPlugin, Protocol):
    """Changes objects before they are stored."""

    async def admit(self, attributes: Attributes) -> None:
        """Change or replace `attributes.obj`. **Raises** `StatusError` to refuse."""


class ValidatingPlugin(AdmissionPlugin, Protocol):
    """Refuses invalid requests."""

    async def validate(self, attributes: Attributes) -> None:
        """Check the request. **Raises** `StatusError` to refuse."""


class ConfiguredPlugin(AdmissionPlugin, Protocol):
    """Plug-in that does nothing unless objects configure it."""

    configured_by: ClassVar[tuple[tuple[str, str], ...]]
    """Pairs of group and built-in resource that configure the plug-in."""

    def is_configured(self) -> bool:
        """Return True if the objects that configure the plug-in exist."""


class QuickPlugin(MutatingPlugin, Protocol):
    """Mutating plug-in that can decide at once that it has nothing to do. Each update benefits from this."""

    def passes(self, operation: str, namespace: str) -> bool:
        """Return True if `admit` would certainly neither change nor refuse an object in this namespace."""


def _is_mutating(plugin: AdmissionPlugin) -> TypeGuard[MutatingPlugin]:
    """Return True for a plug-in with `admit`. `isinstance` with a protocol takes fifty times as long."""
    return hasattr(plugin, "admit")


def _is_validating(plugin: AdmissionPlugin) -> TypeGuard[ValidatingPlugin]:
    """Return True for a plug-in with `validate`."""
    return hasattr(plugin, "validate")


def _is_configured_by_objects(plugin: AdmissionPlugin) -> TypeGuard[ConfiguredPlugin]:
    return hasattr(plugin, "is_configured")


def _is_quick(plugin: MutatingPlugin) -> TypeGuard[QuickPlugin]:
    return hasattr(plugin, "passes")


Call = Callable[[Attributes], Awaitable[None]]
Observe = Callable[[float], None]
"""Records a duration in seconds."""


@dataclass(frozen=True, slots=True)
class SelectedPlugins:
    """Plug-ins for one operation on one resource."""

    mutating: tuple[MutatingPlugin, ...]
    validating: tuple[ValidatingPlugin, ...]
    admit: tuple[tuple[str, Call, Observe], ...]
    """Name, method and recorder of durations of each mutating plug-in."""
    validate: tuple[tuple[str, Call, Observe], ...]
    passes: Callable[[str, str], bool] | None
    """Method of the only mutating plug-in, if it is a `QuickPlugin`."""


class AdmissionChain:
    """All plug-ins of a server, in order. Plug-ins without configuration are skipped."""

    def __init__(
        self,
        plugins: Sequence[AdmissionPlugin] = (),
        metrics: AdmissionMetrics | None = None,
        configuration_changed: Callable[[], bool] | None = None,
    ) -> None:
        """`configuration_changed` returns True if an object that configures plug-ins was written since the last call.

        None: plug-ins are never skipped.
        """
        self.plugins = tuple(plugins)
        self._metrics = metrics or AdmissionMetrics()
        self._configuration_changed = configuration_changed
        self._selected: dict[tuple[str, str, str], SelectedPlugins] = {}
        steps = self._metrics.steps
        self._skipped = {
            (kind, operation): steps.observer((kind, operation, "false"))
            for kind in ("admit", "validate")
            for operation in OPERATIONS
        }

    def mutates(self, operation: str, gvr: GroupVersionResource, namespace: str = "") -> bool:
        """Return True if mutating plug-ins must run for this operation on this resource. If not, record the step.

        `namespace`: that of the object; empty for a cluster-scoped object.
        """
        self._refresh()
        selected = self.select(operation, gvr)
        if selected.mutating and not (selected.passes is not None and selected.passes(operation, namespace)):
            return True
        self._skipped["admit", operation](0.0)
        return False

    def validates(self, operation: str, gvr: GroupVersionResource) -> bool:
        """Return True if validating plug-ins must run for this operation on this resource. If not, record the step."""
        self._refresh()
        if self.select(operation, gvr).validating:
            return True
        self._skipped["validate", operation](0.0)
        return False

    async def admit(self, attributes: Attributes) -> None:
        """Run the mutating plug-ins."""
        self._refresh()
        await self.admit_known(attributes)

    async def admit_known(self, attributes: Attributes) -> None:
        """Run the mutating plug-ins. Only for calls right after `mutates`, which has checked for changed
        configuration.
        """
        calls = self.select(attributes.operation, attributes.gvr).admit
        began = monotonic()
        try:
            ended = await self._run("admit", calls, attributes, began)
            if attributes.reinvoke:
                attributes.is_reinvocation = True
                ended = await self._run("admit", calls, attributes, ended)
        except BaseException:
            self._metrics.observe_step("admit", attributes.operation, monotonic() - began, rejected=True)
            raise
        self._metrics.observe_step("admit", attributes.operation, ended - began, rejected=False)

    async def validate(self, attributes: Attributes) -> None:
        """Run the validating plug-ins."""
        calls = self.select(attributes.operation, attributes.gvr).validate
        began = monotonic()
        try:
            ended = await self._run("validate", calls, attributes, began)
        except BaseException:
            self._metrics.observe_step("validate", attributes.operation, monotonic() - began, rejected=True)
            raise
        self._metrics.observe_step("validate", attributes.operation, ended - began, rejected=False)

    async def _run(
        self, kind: str, calls: tuple[tuple[str, Call, Observe], ...], attributes: Attributes, began: float
    ) -> float:
        """Run plug-ins in sequence from the monotonic time `began`, and record their durations. Return the end."""
        observer = attributes.observer
        if observer is not None:
            calls = tuple((name, _observed(call, observer, kind, name), observe) for name, call, observe in calls)
        for name, call, observe in calls:
            try:
                await call(attributes)
            except BaseException:
                self._metrics.plugin(name, kind, attributes.operation, rejected=True)(monotonic() - began)
                raise
            now = monotonic()
            observe(now - began)
            began = now
        return began

    def select(self, operation: str, gvr: GroupVersionResource) -> SelectedPlugins:
        """Return the plug-ins that have work for an operation on a resource. Cached."""
        key = (operation, gvr.group, gvr.resource)
        selected = self._selected.get(key)
        if selected is None:
            plugins = [
                plugin
                for plugin in self.plugins
                if operation in plugin.operations
                and covers(plugin.name, plugin.resources, gvr.group, gvr.resource)
                and self._has_work(plugin)
            ]
            mutating = tuple(plugin for plugin in plugins if _is_mutating(plugin))
            validating = tuple(plugin for plugin in plugins if _is_validating(plugin))
            if len(self._selected) >= _SELECTED_MAX:
                self._selected.clear()
            only = mutating[0] if len(mutating) == 1 else None
            selected = self._selected[key] = SelectedPlugins(
                mutating,
                validating,
                tuple((each.name, each.admit, self._observe(each, "admit", operation)) for each in mutating),
                tuple((each.name, each.validate, self._observe(each, "validate", operation)) for each in validating),
                only.passes if only is not None and _is_quick(only) else None,
            )
        return selected

    def _observe(self, plugin: AdmissionPlugin, kind: str, operation: str) -> Observe:
        return self._metrics.plugin(plugin.name, kind, operation, rejected=False)

    def _refresh(self) -> None:
        """Clear the cache if the configuration has changed."""
        if self._configuration_changed is not None and self._configuration_changed():
            self._selected.clear()

    def _has_work(self, plugin: AdmissionPlugin) -> bool:
        return self._configuration_changed is None or not _is_configured_by_objects(plugin) or plugin.is_configured()


def _observed(call: Call, observer: AdmissionObserver, kind: str, name: str) -> Call:
    async def observed(attributes: Attributes) -> None:
        with observer.plugin(kind, name, attributes):
            await call(attributes)

    return observed


def configuring(plugins: Iterable[AdmissionPlugin]) -> list[tuple[str, str]]:
    """Return the pairs of group and resource that configure the plug-ins."""
    return sorted({each for plugin in plugins if _is_configured_by_objects(plugin) for each in plugin.configured_by})
