"""`Client`: a server, and the clients of its resources.

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
from sampan.client.discovery import discover
from sampan.client.endpoint import Endpoint
from sampan.client.options import FieldValidation, WriteOptions
from sampan.client.request_counts import RequestCounts
from sampan.client.resource_client import ResourceClient
from sampan.client.rest_client import REQUEST_TIMEOUT_S, RESTClient
from sampan.client.rest_mapper import ResourceName, RESTMapper
from sampan.client.stack import connect_transport
from sampan.client.transport import Transport
from sampan.client.warnings import WarningHandler
from sampan.resource import Object, ObjectType, ResourceInfo, dynamic, object_type

T = TypeVar("T")


class Client:
    """Asks one server. Safe to use from many tasks of one event loop; `async with` closes its connections."""

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
        """`counts`: what the transport counts, if it does. `request_timeout_s`: longest wait for an answer, in all its
        retries; `math.inf` for no limit. Watches have separate limits.
        """
        self.rest = RESTClient(transport, request_timeout_s=request_timeout_s)
        self.counts = counts
        self.namespace = namespace
        """Where namespaced objects are that say no namespace."""
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
        """A client of the server that a configuration names; `warnings` as for `connect_transport`.

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
        """A client of the same server whose requests say something else by default; None: as before.

        It shares connections and mapper: close only one of the two.
        """
        mine = self._write_options
        other = self._like_this(self.rest.transport)
        other.namespace = self.namespace if namespace is None else namespace
        if request_timeout_s is not None:
            other.rest = self.rest.with_timeout(request_timeout_s)
        other._write_options = replace(
            mine,
            field_manager=mine.field_manager if field_manager is None else field_manager,
            field_validation=field_validation or mine.field_validation,
            dry_run=mine.dry_run if dry_run is None else dry_run,
        )
        return other

    def through(self, wrap: Callable[[Transport], Transport]) -> "Client":
        """A client like this one whose requests go through a transport around its own: close only one of the two."""
        return self._like_this(wrap(self.rest.transport))

    @overload
    def resource(self, what: ResourceInfo, *, namespace: str | None = None) -> ResourceClient[Object]: ...

    @overload
    def resource(self, what: ObjectType[T], *, namespace: str | None = None) -> ResourceClient[T]: ...

    @overload
    def resource(self, what: type[T], *, namespace: str | None = None) -> ResourceClient[T]: ...

    def resource(
        self, what: ResourceInfo | ObjectType[T] | type[T], *, namespace: str | None = None
    ) -> ResourceClient[Object] | ResourceClient[T]:
        """The client of a resource: of dicts for a `ResourceInfo`, of `T` for its type or a declared class.

        `namespace`: "" for all of them; without it that of the client, unless an object names its own.
        """
        if isinstance(what, ResourceInfo):
            return self._resource(dynamic(what), namespace)
        return self._resource(what if isinstance(what, ObjectType) else object_type(what), namespace)

    async def resource_for(self, what: ResourceName, *, namespace: str | None = None) -> ResourceClient[Object]:
        """The client of a resource that discovery must find: see `RESTMapper.resource_for`. Raises `NoMatch`."""
        return self.resource(await self.mapper.resource_for(what), namespace=namespace)

    async def aclose(self) -> None:
        """Close all connections. Requests under way fail with `TransportError`."""
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
        endpoint = Endpoint(
            self.rest,
            what.info,
            where if what.info.namespaced else "",
            pinned=bool(namespace),
            write_options=self._write_options,
        )
        return ResourceClient(endpoint, what)
