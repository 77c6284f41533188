"""`Hooks`: the registered handlers of each resource."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar, Unpack, cast

from sampan.operator.caches.cached_client import declared_type
from sampan.operator.webhook.admission import (
    Defaulter,
    FunctionValidator,
    Handler,
    Operation,
    Validator,
    mutating_handler,
    one_after_the_other,
    validating_handler,
)
from sampan.operator.webhook.hook import Hook, HookKind, HookOptions, with_hook_options
from sampan.resource import ObjectType, ResourceInfo

T = TypeVar("T")
Fn = TypeVar("Fn")

Resource = ResourceInfo | ObjectType[Any] | type[Any]
"""Resource of a webhook: a declared class, an `ObjectType`, or a `ResourceInfo`, whose objects are dicts."""


@dataclass(frozen=True, slots=True)
class _Registered:
    hook: Hook
    handlers: tuple[Handler, ...]

    def joined_by(self, hook: Hook, handler: Handler) -> "_Registered":
        """Add a handler for the same webhook, which then has the operations of both.

        Raises `ValueError` if the options differ.
        """
        mine, others = dict(self.hook.options), dict(hook.options)
        operations = [*cast(list[Operation], mine.pop("operations")), *cast(list[Operation], others.pop("operations"))]
        if (self.hook.kind, self.hook.info, mine) != (hook.kind, hook.info, others):
            raise ValueError(f"{hook.path} is in use by a webhook with other options: use another path and name")
        options = cast(HookOptions, {**mine, "operations": tuple(dict.fromkeys(operations))})
        return _Registered(Hook(hook.kind, hook.info, options), (*self.handlers, handler))


class Hooks:
    """Collects handlers. Several handlers of the same resource run one after the other."""

    def __init__(self) -> None:
        self._registered: dict[str, _Registered] = {}

    @property
    def hooks(self) -> list[Hook]:
        """All webhooks, in the order of registration."""
        return [registered.hook for registered in self._registered.values()]

    def handler(self, path: str) -> Handler:
        """Return the handler of a path."""
        handlers = self._registered[path].handlers
        return handlers[0] if len(handlers) == 1 else one_after_the_other(*handlers)

    @with_hook_options
    def mutating(self, what: Resource, **options: Unpack[HookOptions]) -> Callable[[Fn], Fn]:
        """Decorate a function of the object, or a `Defaulter` (class or object), that completes objects.

        It changes the object in place or returns another. Raises `ValueError` if the path is in use.
        """

        def register(default: Fn) -> Fn:
            self.register_defaulter(what, _made(default), **options)
            return default

        return register

    @with_hook_options
    def validating(self, what: Resource, **options: Unpack[HookOptions]) -> Callable[[Fn], Fn]:
        """Decorate a `Validator` (class or object), or a function of the new and the old object, that checks objects.

        The old one is None for a create. Raises `ValueError` if the path is in use.
        """

        def register(check: Fn) -> Fn:
            made = _made(check)
            validator = made if isinstance(made, Validator) else FunctionValidator(made)
            self.register_validator(what, validator, **options)
            return check

        return register

    @with_hook_options
    def register_defaulter(
        self,
        what: type[T] | ObjectType[T] | ResourceInfo,
        defaulter: Defaulter[T] | Callable[[T], Awaitable[T | None] | T | None],
        **options: Unpack[HookOptions],
    ) -> None:
        """Register a `Defaulter` or function without a decorator. Raises `ValueError` if the path is in use."""
        typed = declared_type(what)
        default = defaulter if callable(defaulter) else defaulter.default
        options.setdefault("operations", (Operation.CREATE, Operation.UPDATE))
        self.register(HookKind.MUTATING, typed.info, mutating_handler(typed, default), **options)

    @with_hook_options
    def register_validator(
        self, what: type[T] | ObjectType[T] | ResourceInfo, validator: Validator[T], **options: Unpack[HookOptions]
    ) -> None:
        """Register a `Validator` without a decorator. Raises `ValueError` if the path is in use."""
        typed = declared_type(what)
        operations = [Operation.CREATE, Operation.UPDATE]
        if type(validator).on_delete is not Validator.on_delete:
            operations.append(Operation.DELETE)
        options.setdefault("operations", operations)
        self.register(HookKind.VALIDATING, typed.info, validating_handler(typed, validator), **options)

    @with_hook_options
    def register(self, kind: HookKind, info: ResourceInfo, handler: Handler, **options: Unpack[HookOptions]) -> None:
        """Register a raw handler, which gets unconverted requests. Raises `ValueError` if the path is in use."""
        options.setdefault("operations", (Operation.CREATE, Operation.UPDATE))
        hook = Hook(kind, info, options)
        present = self._registered.get(hook.path)
        self._registered[hook.path] = (
            _Registered(hook, (handler,)) if present is None else present.joined_by(hook, handler)
        )


def _made(given: Any) -> Any:
    return given() if isinstance(given, type) else given
