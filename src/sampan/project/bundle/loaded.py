"""`load_operator`: the operator of a project as `python -m PACKAGE` would run it in its Deployment, without a server.

The program itself is imported, up to its call of `main`. So the manifests follow from the same arguments, options and
code as the process.
"""

import asyncio
import contextvars
import importlib.util
import runpy
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from sampan.client import Client
from sampan.client.config import Config
from sampan.client.transport import HttpRequest, HttpResponse
from sampan.operator import Manager
from sampan.operator.process.start import PREVIEW, PreparedOperator, Start, prepared
from sampan.operator.settings import OperatorSettings
from sampan.operator.webhook import WebhookServer
from sampan.project.bundle.settings import BundleSettings
from sampan.project.errors import ProjectError
from sampan.project.running.code import OperatorCode, error_line, load_code

WEBHOOK_CERTIFICATES: Final = "/certificates"
"""Directory of the certificate of cert-manager in the container."""


@dataclass(frozen=True, slots=True)
class LoadedOperator:
    """An operator, set up but not running."""

    code: OperatorCode
    program: str
    """Name of the program: that of its Lease and its field manager."""
    process: OperatorSettings
    """Settings of the process in the Deployment."""
    arguments: tuple[str, ...]
    """Arguments of the program in the Deployment."""
    manager: Manager
    start: Start
    """Arguments of the program's call of `main`."""

    @property
    def webhooks(self) -> WebhookServer | None:
        """The webhook server, if the operator has one."""
        return next((each for each in self.manager.runnables if isinstance(each, WebhookServer)), None)


def load_operator(settings: BundleSettings) -> LoadedOperator:
    """Import the operator and set it up. It may be called while an event loop runs.

    Raises `ProjectError` with the file and line of a fault. Code that sends a request to the server before it runs is
    a fault too.
    """
    code = load_code(settings.project, webhooks=True)
    start = _start_of(settings)
    arguments = _arguments(settings, has_webhooks=True)
    found = _apart(_prepare(start, arguments, settings), settings)
    servers = [each for each in found.manager.runnables if isinstance(each, WebhookServer) and not each.disabled]
    if len(servers) > 1:
        raise ProjectError("the operator has more than one WebhookServer: register all webhooks with one")
    arguments = _arguments(settings, has_webhooks=bool(servers))
    return LoadedOperator(code, found.name, found.settings, tuple(arguments), found.manager, start)


def _arguments(settings: BundleSettings, *, has_webhooks: bool) -> list[str]:
    arguments = ["--leader-elect", "--log-format=json"]
    if settings.watch_namespaces:
        arguments.append(f"--namespaces={','.join(settings.watch_namespaces)}")
    if has_webhooks:
        arguments.append(f"--webhook-service={settings.namespace}/{settings.name}-webhook")
        if settings.cert_manager:
            arguments.append(f"--webhook-cert-path={WEBHOOK_CERTIFICATES}")
    return [*arguments, *settings.arguments]


def _start_of(settings: BundleSettings) -> Start:
    """Run the package's `__main__` until it calls `main`, and return what it would start."""
    package = settings.project.package
    if importlib.util.find_spec(f"{package}.__main__") is None:
        raise ProjectError(
            f"{package} has no __main__.py that calls sampan.operator.main: restore it with sampan upgrade"
        )
    found: list[Start] = []
    context = contextvars.copy_context()
    context.run(PREVIEW.set, found.append)
    try:
        context.run(runpy.run_module, package, run_name="__main__")
    except (Exception, SystemExit) as error:
        raise ProjectError(error_line(error, settings.project.source)) from error
    if not found:
        raise ProjectError(f"python -m {package} does not call sampan.operator.main, so its settings are unknown")
    return found[0]


async def _prepare(start: Start, arguments: list[str], settings: BundleSettings) -> PreparedOperator:
    config = Config("https://kubernetes.default.svc", namespace=settings.namespace)
    async with Client(_NoServer(), namespace=settings.namespace, field_manager=start.name) as client:
        return await prepared(start, arguments, config, client)


def _apart(coroutine: Coroutine[Any, Any, PreparedOperator], settings: BundleSettings) -> PreparedOperator:
    """Run a coroutine in another thread, because the caller may have an event loop."""
    with ThreadPoolExecutor(1) as threads:
        try:
            return threads.submit(asyncio.run, coroutine).result()
        except SystemExit as error:
            raise ProjectError(f"the program refuses its arguments {' '.join(settings.arguments)}") from error
        except Exception as error:
            raise ProjectError(error_line(error, settings.project.source)) from error


class _NoServer:
    """Transport of an operator that does not run."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Raise, because there is no server."""
        raise ProjectError(f"set_up sends {request.method} {request.target}: move requests into a task of the manager")

    async def aclose(self) -> None:
        """Do nothing."""
