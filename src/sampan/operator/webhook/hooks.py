"""`Hooks`: what was registered to answer for which resource."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar, Unpack, cast

from sampan.operator.cached_client import declared_type
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
from sampan.operator.webhook.hook import Hook, HookKind, HookOptions
from sampan.resource import ObjectType, ResourceInfo

T = TypeVar("T")
Fn = TypeVar("Fn")

Resource = ResourceInfo | ObjectType[Any] | type[Any]
"""What a webhook is for: a declared class, an `ObjectType`, or a `ResourceInfo`, whose objects are dicts."""


@dataclass(frozen=True, slots=True)
class _Registered:
    hook: Hook
    handlers: tuple[Handler, ...]

    def joined_by(self, hook: Hook, handler: Handler) -> "_Registered":
        """A further handler for the same; operations add up. Raises `ValueError` when they want something else."""
        mine, others = dict(self.hook.options), dict(hook.options)
        operations = [*cast(list[Operation], mine.pop("operations")), *cast(list[Operation], others.pop("operations"))]
        if (self.hook.kind, self.hook.info, mine) != (hook.kind, hook.info, others):
            raise ValueError(f"something else is registered at {hook.path} already: give it another path and name")
        options = cast(HookOptions, {**mine, "operations": tuple(dict.fromkeys(operations))})
        return _Registered(Hook(hook.kind, hook.info, options), (*self.handlers, handler))


class Hooks:
    """Collects handlers. Several for the same resource are asked one after the other."""

    def __init__(self) -> None:
        self._registered: dict[str, _Registered] = {}

    @property
    def hooks(self) -> list[Hook]:
        """All of them, in the order in which they came."""
        return [registered.hook for registered in self._registered.values()]

    def handler(self, path: str) -> Handler:
        """What answers at a path."""
        handlers = self._registered[path].handlers
        return handlers[0] if len(handlers) == 1 else one_after_the_other(*handlers)

    def mutating(self, what: Resource, **options: Unpack[HookOptions]) -> Callable[[Fn], Fn]:
        """Decorates what fills objects in: a function of the object, or a `Defaulter` (class or object).

        It changes the object in place or gives another. Raises `ValueError` for a path that is taken.
        """

        def register(default: Fn) -> Fn:
            self.register_defaulter(what, _made(default), **options)
            return default

        return register

    def validating(self, what: Resource, **options: Unpack[HookOptions]) -> Callable[[Fn], Fn]:
        """Decorates what checks objects: a `Validator` (class or object), or a function of the new and the old object.

        The old one is None at a creation. Raises `ValueError` for a path that is taken.
        """

        def register(check: Fn) -> Fn:
            made = _made(check)
            validator = made if isinstance(made, Validator) else FunctionValidator(made)
            self.register_validator(what, validator, **options)
            return check

        return register

    def register_defaulter(
        self,
        what: type[T] | ObjectType[T] | ResourceInfo,
        defaulter: Defaulter[T] | Callable[[T], Awaitable[T | None] | T | None],
        **options: Unpack[HookOptions],
    ) -> None:
        """The same for a `Defaulter` or function at hand. Raises `ValueError` for a path that is taken."""
        typed = declared_type(what)
        default = defaulter if callable(defaulter) else defaulter.default
        options.setdefault("operations", (Operation.CREATE, Operation.UPDATE))
        self.register(HookKind.MUTATING, typed.info, mutating_handler(typed, default), **options)

    def register_validator(
        self, what: type[T] | ObjectType[T] | ResourceInfo, validator: Validator[T], **options: Unpack[HookOptions]
    ) -> None:
        """The same for a `Validator` at hand. Raises `ValueError` for a path that is taken."""
        typed = declared_type(what)
        operations = [Operation.CREATE, Operation.UPDATE]
        if type(validator).on_delete is not Validator.on_delete:
            operations.append(Operation.DELETE)
        options.setdefault("operations", operations)
        self.register(HookKind.VALIDATING, typed.info, validating_handler(typed, validator), **options)

    def register(self, kind: HookKind, info: ResourceInfo, handler: Handler, **options: Unpack[HookOptions]) -> None:
        """Have a raw handler asked, which sees reviews as they come. Raises `ValueError` for a path that is taken."""
        options.setdefault("operations", (Operation.CREATE, Operation.UPDATE))
        hook = Hook(kind, info, options)
        present = self._registered.get(hook.path)
        self._registered[hook.path] = (
            _Registered(hook, (handler,)) if present is None else present.joined_by(hook, handler)
        )


def _made(given: Any) -> Any:
    return given() if isinstance(given, type) else given
