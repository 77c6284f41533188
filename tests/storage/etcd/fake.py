"""An etcd whose answers tests make up, for what a real one does seldom."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

from sampan.rpc.proto_table import Method
from sampan.storage.etcd.connection import messages

Respond = Callable[[Any, grpc.aio.ServicerContext[Any, Any]], Awaitable[Any]]


class FakeEtcd:
    """Answers transactions by `transact`; everything else as an etcd with nothing in it, at revision 1, would."""

    def __init__(self, transact: Respond) -> None:
        self.transact = transact
        self.transactions = 0
        self.row: tuple[bytes, bytes, int] | None = None
        """Key, value and mod revision of the one row that is read."""

    async def range(self, request: Any, context: Any) -> Any:
        reply = _header(messages.RANGE.response, 1)
        if self.row is not None:
            key, value, revision = self.row
            reply.kvs.add(key=key, value=value, mod_revision=revision, create_revision=revision)
        return reply

    async def status(self, request: Any, context: Any) -> Any:
        return messages.STATUS.response(version="3.6.0")

    async def txn(self, request: Any, context: Any) -> Any:
        self.transactions += 1
        return await self.transact(request, context)

    async def lease_grant(self, request: Any, context: Any) -> Any:
        return messages.LEASE_GRANT.response(ID=1)

    async def put(self, request: Any, context: Any) -> Any:
        return _header(messages.PUT.response, 1)

    async def watch(self, requests: Any, context: Any) -> AsyncIterator[Any]:
        async for request in requests:
            response = _header(messages.WATCH.response, 100)
            response.created = request.HasField("create_request")
            response.watch_id = request.create_request.watch_id
            yield response


def _header(kind: Any, revision: int) -> Any:
    reply = kind()
    reply.header.revision = revision
    return reply


def written(revision: int) -> Any:
    """The answer to a transaction that wrote."""
    reply = _header(messages.TXN.response, revision)
    reply.succeeded = True
    return reply


def refused(key: bytes, value: bytes, mod_revision: int) -> Any:
    """The answer to a transaction that found this row; none with mod revision 0."""
    reply = _header(messages.TXN.response, mod_revision)
    found = reply.responses.add().response_range
    if mod_revision:
        found.kvs.add(key=key, value=value, mod_revision=mod_revision, create_revision=mod_revision)
    else:
        found.SetInParent()
    return reply


@asynccontextmanager
async def serving(fake: FakeEtcd) -> AsyncIterator[str]:
    """The URL of the fake while it serves."""
    server = grpc.aio.server()
    unary = {
        messages.RANGE: fake.range,
        messages.STATUS: fake.status,
        messages.TXN: fake.txn,
        messages.PUT: fake.put,
        messages.LEASE_GRANT: fake.lease_grant,
    }
    for method, handler in unary.items():
        _add(server, method, grpc.unary_unary_rpc_method_handler, handler)
    _add(server, messages.WATCH, grpc.stream_stream_rpc_method_handler, fake.watch)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await server.stop(None)


def _add(server: Any, method: Method, handler_of: Any, handler: Any) -> None:
    _, service, name = method.path.split("/")
    handlers = {name: handler_of(handler, method.request.FromString, method.response.SerializeToString)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
