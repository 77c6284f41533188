"""`run_project`: one `sampan run`, from its connections to its end."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace

from sampan.client import Client, ConfigOverrides, load_config
from sampan.client.identity import Impersonation
from sampan.project.pyproject import Settings
from sampan.project.running.inner_loop import InnerLoop, Report, Target
from sampan.project.running.memory_server import memory_server
from sampan.project.running.rights import user_of
from sampan.server.request import UserInfo


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `sampan run`."""

    context: str = ""
    """Context of the kubeconfig; empty: a server in memory."""
    as_deployed: bool = False
    consent: Callable[[str], bool] = lambda diff: True
    time_scale: float = 1.0
    """Seconds of the running loop in a real one; see `sampan.testing.time.scaled_time`."""
    shows_dashboard: bool = False
    """Report a link to the dashboard of the server in memory."""


async def run_project(settings: Settings, options: RunOptions, report: Report, stop: asyncio.Event) -> None:
    """Run until `stop` is set or a signal arrives.

    Raises `ProjectError` if the operator cannot start, `ConfigError`, `ClientError`.
    """
    async with _target(settings, options, report) as target:
        with _signals(stop):
            await InnerLoop(settings, target, report).run(stop)


@asynccontextmanager
async def _target(settings: Settings, options: RunOptions, report: Report) -> AsyncIterator[Target]:
    name, groups = user_of(settings.package)
    if not options.context:
        async with memory_server(settings.root / ".sampan" / "run") as server:
            user = (UserInfo(name, groups=groups),) if options.as_deployed else ()
            async with server.client("sampan-run") as admin, server.client(settings.package, *user) as operator:
                report(f"export KUBECONFIG={server.kubeconfig}")
                if options.shows_dashboard:
                    report(server.dashboard)
                yield Target(admin, operator, True, options.as_deployed, options.consent, options.time_scale)
        return
    config = load_config(overrides=ConfigOverrides(context=options.context))
    limited = replace(config, impersonation=Impersonation(name, groups=groups))
    async with (
        Client.from_config(config, field_manager="sampan-run") as admin,
        Client.from_config(limited if options.as_deployed else config, field_manager=settings.package) as operator,
    ):
        yield Target(admin, operator, False, options.as_deployed, options.consent)


@contextmanager
def _signals(stop: asyncio.Event) -> Iterator[None]:
    """Set `stop` on SIGTERM and SIGINT."""
    loop, numbers = asyncio.get_running_loop(), (signal.SIGTERM, signal.SIGINT)
    with suppress(RuntimeError, ValueError, NotImplementedError):  # only the main thread receives signals
        for number in numbers:
            loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in numbers:
            with suppress(RuntimeError, ValueError, NotImplementedError):
                loop.remove_signal_handler(number)
