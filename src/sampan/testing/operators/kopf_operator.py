"""`kopf_operator`: an operator written with kopf, for `cluster.run`.

    running = cluster.run(kopf_operator("widget_operator.py"))

Concurrency: kopf runs in the event loop of the test, and its handlers without `async` run in threads. When kopf ends,
it cancels every task that was created after its start. So the tasks that kopf has created are tracked, and it may
cancel only these.
"""

import asyncio
import importlib.util
import signal
import sys
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from sampan.core.event_loop.task_scope import TaskScope
from sampan.testing.operators.running import Running
from sampan.testing.servers.serve import Served

Task = asyncio.Task[Any]
Source = str | Path | ModuleType | Any
"""Path of a file with handlers, an imported module, or a `kopf.OperatorRegistry`."""

_CREATED: Final = ContextVar["weakref.WeakSet[Task] | None"]("tasks of a kopf operator", default=None)
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class KopfOperator:
    """Handlers, and the options of `kopf.operator`. See `kopf_operator`."""

    def __init__(self, source: Source, options: dict[str, Any]) -> None:
        self.options = options
        self.module: ModuleType | None = source if isinstance(source, ModuleType) else None
        """Module with the handlers; None for a registry."""
        self._kopf = _import_kopf()
        self._source = source
        self._registry: Any = None
        self._ran = False
        if isinstance(source, ModuleType):
            self._registry = self._kopf.get_default_registry()
        elif isinstance(source, str | Path):
            self._load(Path(source))
        elif isinstance(source, self._kopf.OperatorRegistry):
            self._registry = source
        else:
            raise TypeError(f"kopf_operator takes a path, a module or a kopf.OperatorRegistry, not {source!r}")

    def begin(self) -> None:
        """Load the file of the operator again if it has run before.

        Its variables are then new, as in a new process.
        """
        if self._ran and isinstance(self._source, str | Path):
            self._load(Path(self._source))
        self._ran = True

    async def run(self, served: Served, stopping: asyncio.Event) -> None:
        """Run the operator until `stopping` is set. Raises the error with which kopf ends."""
        created: weakref.WeakSet[Task] = weakref.WeakSet()
        loop = asyncio.get_running_loop()
        if not isinstance(loop.get_task_factory(), _Tracking):
            loop.set_task_factory(_Tracking(loop.get_task_factory()))
        _CREATED.set(created)
        with _same_signals(loop):
            tasks = await self._kopf.spawn_tasks(**self._arguments(served, stopping))
        await self._kopf.run_tasks(tasks, ignored=_ForeignTasks(created))

    def _arguments(self, served: Served, stopping: asyncio.Event) -> dict[str, Any]:
        # Only a vault gives credentials without a login handler; kopf does not export its class.
        vault = import_module("kopf._cogs.structs.credentials").Vault
        place = self._kopf.ConnectionInfo(
            server=served.url, ca_data=served.authority, token=served.token, default_namespace="default"
        )
        arguments = {
            "registry": self._registry,
            "standalone": True,
            "clusterwide": not self.options.get("namespaces"),
            "vault": vault({"cluster of the test": place}),
            "stop_flag": stopping,
        }
        return {**arguments, **self.options}

    def _load(self, path: Path) -> None:
        """Run the file. Meanwhile, decorators of kopf add handlers to this operator only."""
        before = self._kopf.get_default_registry()
        self._registry = self._kopf.OperatorRegistry()
        self._kopf.set_default_registry(self._registry)
        try:
            self.module = _loaded(path)
        finally:
            self._kopf.set_default_registry(before)


def kopf_operator(source: Source, **options: Any) -> KopfOperator:
    """Return an operator of kopf for `cluster.run`.

    `source` is the path of a file, whose handlers are then in a registry of this operator only; or an imported module,
    with all handlers that the process has imported; or a `kopf.OperatorRegistry`. `options` are those of
    `kopf.operator` (`settings`, `memo`, `namespaces`, …). Raises `ImportError` without kopf, and `TypeError`.
    """
    return KopfOperator(source, options)


def run_kopf(operator: KopfOperator, serve: Callable[[], AbstractAsyncContextManager[Served]], name: str) -> Running:
    """Start an operator. `serve` returns its server, which records its requests."""
    stopping = asyncio.Event()

    async def begin() -> None:
        stopping.clear()
        operator.begin()
        async with TaskScope() as tasks:
            try:
                async with serve() as served:
                    running = tasks.begin(operator.run(served, stopping), name)
                    # If it is cancelled here, the server closes first: the operator cannot write any more.
                    await asyncio.wait({running})
            finally:
                # Otherwise, kopf kills the process if its end takes too long.
                stopping.set()
            await running

    return Running(name, begin, stop=stopping.set)


class _ForeignTasks(Collection[Task]):
    """All tasks that the operator has not created."""

    def __init__(self, created: "weakref.WeakSet[Task]") -> None:
        self._created = created

    def __contains__(self, task: object) -> bool:
        return task not in self._created

    def __iter__(self) -> Iterator[Task]:
        return (each for each in asyncio.all_tasks() if each in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Tracking:
    """Task factory that notes the tasks of kopf operators. A task belongs to the operator of its creator."""

    def __init__(self, inner: Callable[..., Any] | None) -> None:
        self._inner = inner

    def __call__(self, loop: asyncio.AbstractEventLoop, work: Any, /, **options: Any) -> "asyncio.Future[Any]":
        made = asyncio.Task(work, loop=loop, **options) if self._inner is None else self._inner(loop, work, **options)
        created = _CREATED.get()
        if created is not None:
            created.add(made)
        return made


@contextmanager
def _same_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Restore the signal handlers that kopf replaces, so that Ctrl+C ends the tests."""
    before = {each: signal.getsignal(each) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            if signal.getsignal(each) is not handler:
                loop.remove_signal_handler(each)
                signal.signal(each, handler)


def _import_kopf() -> Any:
    try:
        return import_module("kopf")
    except ModuleNotFoundError as error:
        if error.name != "kopf":
            raise
        raise ImportError("kopf_operator needs kopf: pip install kopf") from None


def _loaded(path: Path) -> ModuleType:
    """Run a file as a new module. Its folder is importable, as with `kopf run`. Raises `ImportError`."""
    place = path.resolve()
    if not place.is_file():
        raise ImportError(f"cannot load {path}: there is no such file in {Path.cwd()}")
    folder = str(place.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(place.stem, place)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}: it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
