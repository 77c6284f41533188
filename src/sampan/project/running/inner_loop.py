"""`InnerLoop`: runs the operator of a project, and again after each change of its files.

Concurrency: `run` owns the task of the manager. It looks at the files ten times a second. After a change it imports the
package, compares the CRDs, stops the manager and starts a new one. What fails is reported, and the running
operator continues. The objects of the cluster stay in any case.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from sampan.client import ApiError, Client, ClientError, NotFound
from sampan.client.objects.manifests import ManifestError, read_manifests
from sampan.core.event_loop.task_scope import TaskScope
from sampan.operator import Manager, ManagerOptions
from sampan.operator.webhook import WebhookServer
from sampan.operator.webhook.targets import FIELD_MANAGER
from sampan.project.errors import ProjectError
from sampan.project.object_changes import ObjectChange, changes_of
from sampan.project.pyproject import Settings, project_at
from sampan.project.running.code import OperatorCode, State, load_code, samples_of, state_of
from sampan.project.running.kinds import (
    CRDS,
    MANAGER,
    apply_changes,
    broken_objects,
    definitions,
)
from sampan.project.running.rights import DeniedRequests, role_objects, rules_of

_LOOK_S: Final = 0.1
_GRACE_S: Final = 0.5
_START_S: Final = 5.0
_WEBHOOKS: Final = ("127.0.0.1", 0)
"""Only the server on this machine calls them, and several projects may run: any free port."""

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Target:
    """Server of an operator, and how it runs there."""

    admin: Client
    """Client that applies CRDs, roles and samples."""
    operator: Client
    """Client of the operator."""
    in_memory: bool
    """True for a server in this process: samples and kinds of others are applied too, without consent."""
    as_deployed: bool = False
    """True: the operator has only the rights of its role."""
    consent: Callable[[str], bool] = lambda diff: True
    """Return True if the user accepts a diff."""
    time_scale: float = 1.0
    """Seconds of the running loop in a real one."""


class InnerLoop:
    """Run of a project's operator that starts again after each change of its files."""

    def __init__(self, settings: Settings, target: Target, report: Report) -> None:
        self._settings = settings
        self._target = target
        self._report = report
        self._state: State = {}
        self._samples: dict[Path, bytes] = {}
        self._manager: Manager | None = None
        self._running: asyncio.Task[None] | None = None
        operator = target.operator
        self._client = operator.through(lambda inner: DeniedRequests(inner, report)) if target.as_deployed else operator

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set. Raises `ProjectError` if the first start fails, or is not accepted."""
        async with TaskScope() as tasks:
            self._state = state_of(self._settings)
            await self._start(tasks, self._load())
            await self._apply_samples()
            self._report(f"running {self._settings.package}; a saved file takes effect, Ctrl-C ends")
            while not stop.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), _LOOK_S * self._target.time_scale)
                self._note_end()
                state = state_of(self._settings)
                if state != self._state and not stop.is_set():
                    await self._changed(tasks, state)
            await self._stop()

    async def _changed(self, tasks: TaskScope, state: State) -> None:
        changed = sorted(path for path in {*state, *self._state} if state.get(path) != self._state.get(path))
        began_s, self._state = perf_counter(), state
        names = [str(Path(path).relative_to(self._settings.root)) for path in changed[:3]]
        try:
            if any(path.endswith((".py", ".toml")) for path in changed):
                self._settings = project_at(self._settings.root)
                await self._start(tasks, self._load())
            refused = await self._apply_samples()
        except (ProjectError, ClientError) as error:
            self._report(f"not reloaded: {error}")
            return
        if loaded := [name for name in names if name not in refused]:
            self._report(f"reloaded in {perf_counter() - began_s:.2f} s: {', '.join(loaded)}")

    def _load(self) -> OperatorCode:
        return load_code(self._settings, webhooks=self._target.in_memory)

    async def _start(self, tasks: TaskScope, code: OperatorCode) -> None:
        """Apply the CRDs, then replace the running manager. Raises `ProjectError`, `ClientError`."""
        options = ManagerOptions(graceful_shutdown_timeout_s=_GRACE_S, webhook_address=_WEBHOOKS)
        manager = Manager(self._client, options)
        try:
            made = code.set_up(manager)
            if asyncio.iscoroutine(made):
                await made
        except Exception as error:
            raise ProjectError(f"set_up failed: {type(error).__name__}: {error}") from error
        await self._prepare(code, manager)
        await self._stop()
        self._manager = manager
        self._running = tasks.begin(manager.run(), "operator")
        await self._until_ready(manager)
        if code.webhooks:
            self._report("warning: webhooks are off, because the cluster cannot reach this process")

    async def _until_ready(self, manager: Manager) -> None:
        """Wait until the controllers run, or the manager has failed."""
        assert self._running is not None
        async with TaskScope() as tasks:
            ready = tasks.begin(manager.elected.wait(), "start of the operator")
            await asyncio.wait({ready, self._running}, timeout=_START_S, return_when=asyncio.FIRST_COMPLETED)

    async def _prepare(self, code: OperatorCode, manager: Manager) -> None:
        """Apply CRDs and the role. Raises `ProjectError` if stored objects break, or the diff is not accepted."""
        target = self._target
        kinds = (*code.kinds, *code.external) if target.in_memory else code.kinds
        objects: list[tuple[Any, Any]] = [(CRDS, each) for each in definitions(kinds)]
        if target.as_deployed:
            rules = rules_of(manager, code.kinds, self._settings.rbac)
            objects += role_objects(self._settings.package, rules)
        changes = await changes_of(target.admin, objects, field_manager=MANAGER, force=True)
        if any(each.diff.changed and each.info is CRDS for each in changes):
            await self._check_stored(kinds)
        diff = "".join(f"{each.diff}\n" for each in changes if each.diff.changed)
        if diff and not target.in_memory and not target.consent(diff):
            raise ProjectError("nothing was applied, because the diff was not accepted")
        await self._apply(changes)
        if target.as_deployed:
            await self._install(manager)

    async def _install(self, manager: Manager) -> None:
        """Create what webhooks need and their role does not permit them to create. What exists stays.

        It is applied in the name of the webhooks, so they keep it up to date: there is no manifest.
        """
        servers = [each for each in manager.runnables if isinstance(each, WebhookServer) and not each.disabled]
        for obj in (obj for server in servers for obj in server.installed()):
            resource = await self._target.admin.resource_for(obj, namespace=obj["metadata"].get("namespace"))
            try:
                await resource.get(obj["metadata"]["name"])
            except NotFound:
                await resource.apply(obj, field_manager=FIELD_MANAGER)

    async def _check_stored(self, kinds: Sequence[type[Any]]) -> None:
        if broken := await broken_objects(self._target.admin, kinds):
            lines = "".join(f"\n  {each}" for each in broken)
            raise ProjectError(f"the new CRDs are not applied, because stored objects would be invalid:{lines}")

    async def _apply(self, changes: Sequence[ObjectChange]) -> None:
        await apply_changes(self._target.admin, changes)
        self._target.admin.mapper.invalidate()

    async def _apply_samples(self) -> set[str]:
        """Apply the samples that have changed, in memory only, and return those that are refused.

        These are reported, and applied again after the next change: a new field may make them valid.
        """
        refused = set[str]()
        if not self._target.in_memory:
            return refused
        for path in samples_of(self._settings):
            try:
                content = path.read_bytes()
                if self._samples.get(path) == content:
                    continue
                self._samples[path] = content
                for obj in read_manifests([str(path)]):
                    namespace = obj["metadata"].get("namespace")
                    resource = await self._target.admin.resource_for(obj, namespace=namespace)
                    await resource.apply(obj, field_manager=MANAGER, force=True)
            except (OSError, ManifestError, ApiError) as error:
                name = str(path.relative_to(self._settings.root))
                self._samples.pop(path, None)
                refused.add(name)
                self._report(f"{name} is not applied: {error}")
        return refused

    def _note_end(self) -> None:
        """Report the error of a manager that has ended; a change of the code starts another one."""
        if self._running is not None and self._running.done():
            error = None if self._running.cancelled() else self._running.exception()
            self._report(f"the operator has ended: {error or 'without an error'}; change its code to start it again")
            self._running = None

    async def _stop(self) -> None:
        running, manager = self._running, self._manager
        self._running = self._manager = None
        if running is not None and manager is not None:
            manager.stop()
            await asyncio.wait({running})
            if not running.cancelled() and (error := running.exception()) is not None:
                self._report(f"the operator ended with an error: {error}")
