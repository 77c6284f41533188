"""`Write`: one write, as the steps process it on its way to the store.

Three objects define a write. A `Change` makes the desired object. A `Gate` does authorization and admission. `Rules`
select the part of the object that may change, and its validation.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol, cast

import msgspec

from sampan.core.field import FieldError
from sampan.core.object import Object
from sampan.core.time import Clock
from sampan.patch.copying import copy_json
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.store import ResourceStore
from sampan.registry.strategy import Context, Release
from sampan.registry.write.origin import StoredOrigin
from sampan.storage.records import Record


class WriteKind(Enum):
    """Kind of write: selects the steps (see `steps.py`). Writes of the server itself have no request."""

    CREATE = "create"
    UPDATE = "update"
    APPLY = "apply"
    DELETE = "delete"
    OWN_CREATE = "create by the server"
    OWN_UPDATE = "update by the server"
    OWN_DELETE = "delete by the server"


class Part(Enum):
    """Part of the object that an update may change."""

    MAIN = "main"
    STATUS = "status"
    ALL = "all"
    """Main part and status, for subresources with special rules (binding)."""


class StoreAction(Enum):
    """Effect of the last step: an object is put, deleted or left."""

    WRITE = "write"
    KEEP = "keep"
    """No action: the stored object is the response."""
    REMOVE = "remove"


class Change:
    """Part of a write that differs between verbs. An instance serves one write."""

    __slots__ = ()
    name: ClassVar[str] = ""
    """Name of the change in traces; "" if it only returns the decoded object."""

    def creates(self, store: ResourceStore) -> bool:
        """Return True if the change may create an absent object of this kind."""
        return False

    def given(self) -> Object | None:
        """Return the applied configuration; None for other verbs. A trace uses it in place of a stored object that does
        not exist.
        """
        return None

    async def read(self, write: "Write") -> None:
        """Read the body of the request, once. Raises 400, 413, 415."""

    def decode(self, write: "Write") -> None:
        """Decode the body, once. Runs in a thread for large requests. Raises 400."""

    async def make(self, write: "Write") -> Object:
        """Return the desired object, in the request's version.

        Called once for each attempt. The result must share nothing mutable with `write.old`. Raises `StatusError`.
        """
        raise NotImplementedError


class Gate(Protocol):
    """Authorization and admission of a request. The methods return None if nothing has to be awaited."""

    def authorize_creation(self, write: "Write") -> Awaitable[None]:
        """Authorize an update to create the absent object. Raises 403."""

    def mutate(self, write: "Write") -> Awaitable[None] | None:
        """Run mutating admission; it may replace the desired object. Raises `StatusError`."""

    def validate(self, write: "Write") -> Awaitable[None] | None:
        """Run validating admission. Raises `StatusError`."""


class Observer(Protocol):
    """Observer of the steps of a write, such as the recorder of a trace."""

    def step(self, name: str, write: "Write") -> AbstractContextManager[Any]:
        """Return a context in which the step of this name runs."""


@dataclass(slots=True)
class DeletionOptions:
    """`metav1.DeleteOptions`, validated. None: not set."""

    grace_period_s: int | None = None
    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    resource_version: str | None = None


class Write(msgspec.Struct, eq=False):
    """One write. The caller sets the first group of fields, the steps set the further groups.

    All objects are in the strategy's version, except `desired` until the step "convert".
    """

    kind: WriteKind
    store: ResourceStore
    ctx: Context
    clock: Clock
    name: str = ""
    """Name of the object; "": the new object contains its name, or gets a generated name."""
    change: Change = msgspec.field(default_factory=Change)
    gate: Gate | None = None
    """Authorization and admission; None for a write of the server."""
    endpoint: Endpoint | None = None
    """Resource and version of the request; None for a write of the server."""
    field_manager: str = ""
    part: Part = Part.MAIN
    dry_run: bool = False
    uid: str | None = None
    """Precondition: uid of the stored object."""
    creates: bool = False
    """True if the request may create an absent object, if the kind permits that."""
    keeps_managed_fields: bool = False
    """Do not drop managedFields to make a too large object fit (server-side apply)."""
    faults: Callable[[Object, Object], list[FieldError]] | None = None
    """Function that replaces the strategy's validation, for subresources with special rules."""
    deletion: DeletionOptions | None = None
    listed: Record | None = None
    """Record that the request has listed, in this version. An unchanged object is not converted again."""
    warnings: list[str] = []
    observer: Observer | None = None

    origin: StoredOrigin = cast(StoredOrigin, None)
    stored: bytes = b""
    """Stored object, with its resourceVersion; b"": it does not exist."""
    old: Object | None = None
    """Stored object, decoded once for each attempt. Read only; None if it does not exist."""
    desired: Object = {}
    """The desired object; empty until the step "change"."""
    generates_name: bool = False
    """True if the new object gets a generated name. If it is taken, the runner tries another one."""
    outcome: StoreAction = StoreAction.WRITE
    value: bytes = b""
    """Encoded object to store."""
    release: Release | None = None
    """Callback that commits or reverts the allocations of this attempt."""
    written: bool = False
    """True if this attempt has written the object, so that its allocations are committed."""
    result: bytes = b""
    """Object of the response, in the storage version."""
    created: bool = False

    def __post_init__(self) -> None:
        self.origin = StoredOrigin(self.store, self.store.key(self.ctx.namespace, self.name))

    def begin(self) -> None:
        """Begin an attempt: reset the results of the previous one."""
        self.outcome = StoreAction.WRITE
        self.written = self.created = False

    @property
    def present(self) -> Object:
        """Stored object, if it exists."""
        assert self.old is not None
        return self.old

    def copy_of_old(self) -> Object:
        """Return a private copy of the stored object."""
        copy: Object = copy_json(self.present)
        return copy

    @property
    def removed(self) -> bool:
        """True if the write has removed the object, or would have removed it without dry run."""
        return self.outcome is StoreAction.REMOVE
