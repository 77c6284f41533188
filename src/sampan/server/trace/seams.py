"""The parts of a request that are observed: each is a copy of the part whose methods tell a `Recorder` what they do.

The copies are the request's own, so nothing that is not traced ever meets them.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Final, TypeVar

from sampan.core.object import Object
from sampan.patch.managed_fields import FieldManager
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.store import ResourceStore
from sampan.registry.strategy import Strategy
from sampan.schema.compile import CompiledSchema
from sampan.server.admission.chain import AdmissionChain, Attributes, Plugin
from sampan.server.request import Request
from sampan.server.trace.recorder import Recorder

P = TypeVar("P", CompiledSchema, Strategy)
Method = Callable[..., Any]

_SCHEMA: Final = {"decode": ("decode", 0), "prune": ("prune", 0), "default": ("defaults", 0)}
_STRATEGY: Final = {
    "default": ("defaults", 0),
    "prepare_for_create": ("prepare", 1),
    "prepare_for_update": ("prepare", 1),
    "prepare_for_status_update": ("prepare", 1),
    "begin_create": ("allocate", 1),
    "begin_update": ("allocate", 1),
    "validate": ("validation", 1),
    "validate_update": ("validation", 1),
    "validate_status_update": ("validation", 1),
}
"""Methods, the steps that they are, and which argument is the object."""


def observed_endpoint(endpoint: Endpoint, subresource: str, recorder: Recorder) -> Endpoint:
    """The same endpoint, observed."""
    return endpoint.with_parts(
        store=_store(endpoint.store, recorder),
        compiled=_observed(endpoint.compiled, _SCHEMA, recorder),
        field_managers={subresource: _field_manager(endpoint.field_manager(subresource), recorder)},
    )


def observe_body(request: Request, recorder: Recorder) -> None:
    """Observe how the request's body is read."""
    read = request.read_body

    async def read_body(limit: int) -> bytes:
        with recorder.step("read", _nothing) as step:
            body = await read(limit)
            step.detail = f"{len(body)} bytes"
        return body

    request.read_body = read_body


class ObservedChain(AdmissionChain):
    """Asks the plug-ins of another chain, as that would, each as a step."""

    def __init__(self, chain: AdmissionChain, recorder: Recorder) -> None:
        super().__init__(chain.plugins)
        self._recorder = recorder

    async def admit(self, attributes: Attributes) -> None:
        """Run the mutating plug-ins."""
        plugins = self.concerned(attributes.operation, attributes.gvr).mutating
        for plugin in plugins:
            with self._step("mutating admission", plugin, attributes):
                await plugin.admit(attributes)
        if attributes.reinvoke:
            attributes.is_reinvocation = True
            for plugin in plugins:
                with self._step("mutating admission, again", plugin, attributes):
                    await plugin.admit(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Run the validating plug-ins."""
        for plugin in self.concerned(attributes.operation, attributes.gvr).validating:
            with self._step("validating admission", plugin, attributes):
                await plugin.validate(attributes)

    def _step(self, name: str, plugin: Plugin, attributes: Attributes) -> Any:
        return self._recorder.step(name, lambda: attributes.obj, plugin.name)


def _store(store: ResourceStore, recorder: Recorder) -> ResourceStore:
    observed = copy(store)
    observed.strategy = _observed(store.strategy, _STRATEGY, recorder)
    return observed


def _observed(part: P, methods: Mapping[str, tuple[str, int]], recorder: Recorder) -> P:
    """A copy of a part. What its methods call of each other is not observed: they are the original's."""
    observed = copy(part)
    for name, (step, argument) in methods.items():
        setattr(observed, name, _telling(getattr(part, name), step, argument, recorder=recorder))
    return observed


def _telling(method: Method, step: str, argument: int, *, recorder: Recorder) -> Method:
    @wraps(method)
    def told(*arguments: Any, **named: Any) -> Any:
        with recorder.step(step, lambda: arguments[argument]) as recorded:
            result = method(*arguments, **named)
            if step == "validation" and result:
                recorded.error = "; ".join(map(str, result))
            return result

    @wraps(method)
    async def told_at_its_end(*arguments: Any, **named: Any) -> Any:
        with recorder.step(step, lambda: arguments[argument]):
            return await method(*arguments, **named)

    return told_at_its_end if iscoroutinefunction(method) else told


def _field_manager(manager: FieldManager, recorder: Recorder) -> FieldManager:
    observed = copy(manager)

    @wraps(manager.update)
    def update(live: Object | None, new: Object, **named: Any) -> None:
        with recorder.step("managed fields", lambda: new):
            manager.update(live, new, **named)

    @wraps(manager.apply)
    def apply(live: Object | None, config: Object, **named: Any) -> Object:
        merged = config if live is None else live
        with recorder.step("apply", lambda: merged):
            merged = manager.apply(live, config, **named)
        return merged

    for name, method in (("update", update), ("apply", apply)):
        setattr(observed, name, method)
    return observed


def _nothing() -> None:
    return None
