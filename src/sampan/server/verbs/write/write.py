"""`Write` of a request, and its `Gate`."""

from collections.abc import Awaitable

from sampan.core.object import Object
from sampan.registry.strategy import Context
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.write import Change, DeletionOptions, Part, Write, WriteKind
from sampan.server.admission.chain import Attributes
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.admit import admit_known, attributes_of
from sampan.server.verbs.write.authorize_create import authorize_creation
from sampan.server.verbs.write.delete_parameters import DeleteParameters, delete_options
from sampan.storage.records import Record


class RequestGate:
    """Authorization and admission of the object of the request."""

    __slots__ = ("_scope",)

    def __init__(self, scope: RequestScope) -> None:
        self._scope = scope

    def authorize_creation(self, write: Write) -> Awaitable[None]:
        """Authorize the verb `create`. Raises 403."""
        return authorize_creation(self._scope)

    def mutate(self, write: Write) -> Awaitable[None] | None:
        """Run mutating admission."""
        scope, operation = self._scope, "CREATE" if write.old is None else "UPDATE"
        if scope.admission.mutates(operation, scope.endpoint.gvr, scope.ctx.namespace):
            return self._admit(write, operation)
        return None

    async def _admit(self, write: Write, operation: str) -> None:
        write.desired = await admit_known(self._scope, operation, write.desired, write.old, write.dry_run)

    def validate(self, write: Write) -> Awaitable[None] | None:
        """Run validating admission."""
        scope, old = self._scope, write.old
        operation = "CREATE" if old is None else "UPDATE"
        if scope.admission.validates(operation, scope.endpoint.gvr):
            return scope.admission.validate(attributes_of(scope, operation, write.desired, old, write.dry_run))
        return None


class DeletionGate(RequestGate):
    """Admission of a deletion. Plug-ins get its DeleteOptions, but no names of the objects of a collection."""

    __slots__ = ("_options",)

    def __init__(self, scope: RequestScope, options: Object | None) -> None:
        super().__init__(scope)
        self._options = options

    def mutate(self, write: Write) -> Awaitable[None] | None:
        """Run mutating admission, which changes nothing."""
        chain = self._scope.admission
        if chain.mutates("DELETE", self._scope.endpoint.gvr):
            return chain.admit(self._attributes(write))
        return None

    def validate(self, write: Write) -> Awaitable[None] | None:
        """Run validating admission."""
        chain = self._scope.admission
        if chain.validates("DELETE", self._scope.endpoint.gvr):
            return chain.validate(self._attributes(write))
        return None

    def _attributes(self, write: Write) -> Attributes:
        attributes = attributes_of(self._scope, "DELETE", None, write.old, write.dry_run)
        attributes.options = self._options
        return attributes


def write_of(
    scope: RequestScope, kind: WriteKind, change: Change, options: WriteOptions, *, gate: RequestGate | None = None
) -> Write:
    """Return the write of a create, update or patch. A subresource never creates its object."""
    endpoint, info = scope.endpoint, scope.request.info
    store, subresource = endpoint.store, info.subresource
    return Write(
        kind=kind,
        store=store,
        ctx=scope.ctx,
        clock=scope.clock,
        name=info.name,
        change=change,
        gate=gate or RequestGate(scope),
        endpoint=endpoint,
        field_manager=options.field_manager,
        part=Part.STATUS if subresource == "status" else Part.MAIN,
        dry_run=options.dry_run,
        creates=not subresource and change.creates(store),
        keeps_managed_fields=kind is WriteKind.APPLY,
        warnings=scope.request.warnings,
        observer=scope.observer,
    )


def deletion_of(
    scope: RequestScope, ctx: Context, parameters: DeleteParameters, *, listed: Record | None = None
) -> Write:
    """Return the write that deletes the object that `ctx` names. `listed`: see `Write`."""
    return Write(
        kind=WriteKind.DELETE,
        store=scope.endpoint.store,
        ctx=ctx,
        clock=scope.clock,
        name=ctx.name,
        gate=DeletionGate(scope, delete_options(parameters)),
        dry_run=bool(parameters.dry_run),
        uid=parameters.uid,
        deletion=terms_of(parameters),
        listed=listed,
        warnings=scope.request.warnings,
    )


def terms_of(parameters: DeleteParameters) -> DeletionOptions:
    """Return the delete preconditions and policies."""
    return DeletionOptions(
        grace_period_s=parameters.grace_period_s,
        propagation_policy=parameters.propagation_policy,
        orphan_dependents=parameters.orphan_dependents,
        resource_version=parameters.resource_version,
    )
