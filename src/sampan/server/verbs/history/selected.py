"""`Selected`: past states of a page as records, converted and selected as in a list."""

from collections.abc import Sequence

from sampan.core.event_loop.offload import offloaded
from sampan.server.verbs.history.options import HistoryOptions
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.selection import selection_of
from sampan.storage.records import Record
from sampan.storage.store import RowWrite, Untransformable, prefix_end


class Selected:
    """Selection of a request. A deletion is selected by the last state of its object."""

    def __init__(self, scope: RequestScope, options: HistoryOptions) -> None:
        self._endpoint = scope.endpoint
        self._selection = selection_of(scope.endpoint, options.selectors)
        store = scope.endpoint.store
        prefix = store.scope_prefix(scope.ctx.namespace)
        namespaced_name = scope.ctx.namespace or not scope.endpoint.definition.namespaced
        key = store.key(scope.ctx.namespace, self._selection.name) if self._selection.name and namespaced_name else ""
        self.range = (key, key + "\0") if key else (prefix, prefix_end(prefix))
        """Keys of the objects that can be selected."""

    async def states(self, writes: Sequence[RowWrite]) -> list[tuple[RowWrite, bytes | str]]:
        """Return the selected writes with their objects in the storage version, or the version of the request if a
        webhook converts. An object that cannot be read is the reason for that, unless there is a selector.

        Raises `StatusError` 500 if they cannot be converted.
        """
        read = await offloaded(self._read, writes)
        matches = self._selection.matches
        chosen = [
            (write, record)
            for write, record in read
            if matches is None or (isinstance(record, Record) and matches(record))
        ]
        records = [record for _, record in chosen if isinstance(record, Record)]
        converted = iter(await self._endpoint.store.present_records(records))
        found: list[tuple[RowWrite, bytes | str]] = []
        for write, record in chosen:
            if isinstance(record, str):
                found.append((write, record))
                continue
            state = next(converted)
            if self._selection.confirms(self._endpoint, state):
                found.append((write, state.value))
        return found

    def _read(self, writes: Sequence[RowWrite]) -> list[tuple[RowWrite, Record | str]]:
        record_of = self._endpoint.store.cache.newest.stored_record
        read: list[tuple[RowWrite, Record | str]] = []
        for write in writes:
            try:
                read.append((write, record_of(write.row)))
            except (Untransformable, ValueError) as error:
                read.append((write, str(error)))
        return read
