"""`Client`: a connection to one server, and the clients of its resources.

async with Client.from_config(load_config()) as client:
    networks = client.resource(Network)
    network = await networks.get("net")
    deployments = await client.resource_for("deploy", namespace="prod")
"""

from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar, overload

from sampan.client.config import Config
from sampan.client.discovery.discover import discover
from sampan.client.discovery.rest_mapper import ResourceName, RESTMapper
from sampan.client.options import FieldValidation, WriteOptions
from sampan.client.resource_client import ResourceClient
from sampan.client.resource_endpoint import ResourceEndpoint
from sampan.client.rest_client import REQUEST_TIMEOUT_S, RESTClient
from sampan.client.stack import connect_transport
from sampan.client.transport import Transport
from sampan.client.transports.request_counts import RequestCounts
from sampan.client.transports.warnings import WarningHandler
from sampan.resource import Object, ObjectType, ResourceInfo, TypedResource, dynamic, object_type

T = TypeVar("T")


class Client:
    """Client of one server. Many tasks of one event loop can share it; `async with` closes its connections."""

    def __init__(
        self,
        transport: Transport,
        *,
        namespace: str = "default",
        field_manager: str = "",
        mapper: RESTMapper | None = None,
        counts: RequestCounts | None = None,
        request_timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> None:
        """Create a client on a transport.

        `counts` are the counts that the transport updates, if it counts requests. `request_timeout_s` limits the wait
        for a response, retries included; `math.inf` means no limit. Watches have separate limits.
        """
        self.rest = RESTClient(transport, request_timeout_s=request_timeout_s)
        self.counts = counts
        self.namespace = namespace
        """Default namespace of requests."""
        self.mapper = mapper or RESTMapper(lambda: discover(self.rest))
        self._write_options = WriteOptions(field_manager=field_manager)

    @classmethod
    def from_config(
        cls,
        config: Config,
        *,
        field_manager: str = "",
        warnings: WarningHandler | None = None,
        request_timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> Self:
        """Return a client of the configured server. `warnings` as for `connect_transport`.

        Raises `ConfigError`.
        """
        counts = RequestCounts()
        return cls(
            connect_transport(config, warnings=warnings, counts=counts),
            namespace=config.namespace,
            field_manager=field_manager,
            counts=counts,
            request_timeout_s=request_timeout_s,
        )

    def with_defaults(
        self,
        *,
        namespace: str | None = None,
        field_manager: str | None = None,
        field_validation: FieldValidation | None = None,
        dry_run: bool | None = None,
        request_timeout_s: float | None = None,
    ) -> "Client":
        """Return a client of the same server with other request defaults. None keeps the current one.

        It shares connections and mapper with this client: close only one of the two.
        """
        defaults = self._write_options
        other = self._like_this(self.rest.transport)
        other.namespace = self.namespace if namespace is None else namespace
        if request_timeout_s is not None:
            other.rest = self.rest.with_timeout(request_timeout_s)
        other._write_options = replace(
            defaults,
            field_manager=defaults.field_manager if field_manager is None else field_manager,
            field_validation=field_validation or defaults.field_validation,
            dry_run=defaults.dry_run if dry_run is None else dry_run,
        )
        return other

    def through(self, wrap: Callable[[Transport], Transport]) -> "Client":
        """Return a client whose transport wraps the transport of this client. Close only one of the two clients."""
        return self._like_this(wrap(self.rest.transport))

    @overload
    def resource(self, what: TypedResource[T], *, namespace: str | None = None) -> ResourceClient[T]: ...  # type: ignore[overload-overlap]  # both are dicts

    @overload
    def resource(self, what: ResourceInfo, *, namespace: str | None = None) -> ResourceClient[Object]: ...

    @overload
    def resource(self, what: ObjectType[T], *, namespace: str | None = None) -> ResourceClient[T]: ...

    @overload
    def resource(self, what: type[T], *, namespace: str | None = None) -> ResourceClient[T]: ...

    def resource(
        self, what: ResourceInfo | ObjectType[T] | type[T], *, namespace: str | None = None
    ) -> ResourceClient[Object] | ResourceClient[T]:
        """Return the client of a resource: of dicts for a `ResourceInfo`, of `T` for its type or a declared class.

        `namespace`: "" selects all namespaces. None selects the client's namespace, but an object may name another
        namespace.
        """
        if isinstance(what, ResourceInfo):
            return self._resource(dynamic(what), namespace)
        return self._resource(what if isinstance(what, ObjectType) else object_type(what), namespace)

    async def resource_for(self, what: ResourceName, *, namespace: str | None = None) -> ResourceClient[Object]:
        """Return the client of a resource that discovery finds. See `RESTMapper.resource_for`. Raises `NoMatch`."""
        return self.resource(await self.mapper.resource_for(what), namespace=namespace)

    async def aclose(self) -> None:
        """Close all connections. Requests in flight fail with `TransportError`."""
        await self.rest.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _like_this(self, transport: Transport) -> "Client":
        other = Client(
            transport,
            namespace=self.namespace,
            mapper=self.mapper,
            counts=self.counts,
            request_timeout_s=self.rest.request_timeout_s,
        )
        other._write_options = self._write_options
        return other

    def _resource(self, what: ObjectType[T], namespace: str | None) -> ResourceClient[T]:
        where = self.namespace if namespace is None else namespace
        endpoint = ResourceEndpoint(
            self.rest,
            what.info,
            where if what.info.namespaced else "",
            pinned=bool(namespace),
            write_options=self._write_options,
        )
        return ResourceClient(endpoint, what)
