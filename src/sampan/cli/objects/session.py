"""Parts that all object commands share: server, namespace and error messages.

Concurrency: a command is one coroutine on its event loop. Ctrl-C cancels it.
"""

import asyncio
import functools
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from sampan.cli.plain_error import PlainError
from sampan.client import (
    ApiError,
    Client,
    ClientError,
    Config,
    ConfigError,
    ConfigOverrides,
    TransportError,
    load_config,
)
from sampan.client.identity import Impersonation
from sampan.client.transports.warnings import Warning, ignore_warnings
from sampan.core.errors import Reason

_OPTIONS = (
    click.option("--kubeconfig", metavar="PATH", default="", help="Kubeconfig file; overrides KUBECONFIG."),
    click.option("--context", default="", help="Context of the kubeconfig to use."),
    click.option("-n", "--namespace", default="", help="Namespace; by default that of the context."),
    click.option("--cluster", default="", help="Cluster of the kubeconfig to use."),
    click.option("--user", default="", help="User of the kubeconfig to use."),
    click.option("-s", "--server", default="", help="URL of the server to use."),
    click.option("--certificate-authority", default="", help="CA file that verifies the server's certificate."),
    click.option("--insecure-skip-tls-verify", is_flag=True, help="Do not verify the server's certificate."),
    click.option("--token", default="", help="Bearer token for the server."),
    click.option("--as", "impersonated", metavar="USER", default="", help="User to impersonate."),
    click.option("--as-group", "as_groups", metavar="GROUP", multiple=True, help="Group to impersonate; repeatable."),
    click.option("--as-uid", metavar="UID", default="", help="UID to impersonate."),
)
_OVERRIDES = tuple({each.name for each in fields(ConfigOverrides)} - {"impersonation"})
INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""


@dataclass(frozen=True, slots=True)
class Where:
    """Server and namespace that the options select."""

    kubeconfig: Path | None
    overrides: ConfigOverrides
    warnings: bool = True
    """True to print warnings of the server."""

    @classmethod
    def taken_from(cls, options: dict[str, Any], *, warnings: bool = True) -> "Where":
        """Remove the options about the server from `options` and return their values. Raises `UsageError`."""
        impersonation = Impersonation(
            options.pop("impersonated", ""), options.pop("as_uid", ""), tuple(options.pop("as_groups", ()))
        )
        if (impersonation.uid or impersonation.groups) and not impersonation.user:
            raise click.UsageError("--as-uid and --as-group need --as")
        given = {name: options.pop(name) for name in _OVERRIDES if name in options}
        file = options.pop("kubeconfig", "")
        return cls(Path(file) if file else None, ConfigOverrides(**given, impersonation=impersonation), warnings)

    def connect(self) -> Client:
        """Return a client of the server. It prints warnings if `warnings` is True. Raises `ConfigError`."""
        warnings = WarningPrinter() if self.warnings else ignore_warnings
        return Client.from_config(self.config(), field_manager="sampan", warnings=warnings)

    def config(self) -> Config:
        """Return address and credentials of the server. Raises `ConfigError`."""
        return load_config(self.kubeconfig, overrides=self.overrides)


class WarningPrinter:
    """Prints warnings of the server, each text once."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def __call__(self, warning: Warning) -> None:
        if warning.text not in self._shown:
            self._shown.add(warning.text)
            click.echo(f"Warning: {warning.text}", err=True)


Command = Callable[..., Awaitable[int | None]]


def on_server(command: Command, *, warnings: bool = True, with_config: bool = False) -> Callable[..., int]:
    """Turn a coroutine function `command(client, …)` into a click callback with the options about the server.

    `warnings`: print warnings of the server. `with_config`: the command also gets the argument `config`.
    """

    @functools.wraps(command)
    def callback(**options: Any) -> int:
        where = Where.taken_from(options, warnings=warnings)

        async def on_client(client: Client) -> int | None:
            more = {"config": where.config()} if with_config else {}
            return await command(client, **options, **more)

        return run(where, on_client)

    for option in reversed(_OPTIONS):
        callback = option(callback)
    return callback


def run(where: Where, command: Callable[[Client], Awaitable[int | None]]) -> int:
    """Run a command and return its exit code. Raises `PlainError` with kubectl's message for an error."""

    async def connected() -> int:
        async with where.connect() as client:
            return await command(client) or 0

    try:
        return asyncio.run(connected())
    except ClientError as error:
        raise PlainError(explain(error)) from error
    except ValueError as error:
        raise PlainError(f"error: {error}") from error
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output (head, less) has closed the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


def explain(error: ClientError) -> str:
    """Return kubectl's message for an error.

    Source: kubectl pkg/cmd/util/helpers.go checkErr, StandardErrorMessage (1.36).
    """
    if isinstance(error, ApiError):
        if error.stated_reason == Reason.INVALID:
            return _invalid(error)
        if error.stated_reason == Reason.UNAUTHORIZED:
            return f"error: You must be logged in to the server ({error.message})"
        reason = f" ({error.stated_reason})" if error.stated_reason else ""
        return f"Error from server{reason}: {error.message}"
    if isinstance(error, ConfigError):
        return f"error: {error}"
    if isinstance(error, TransportError):
        hint = "" if error.sent else " (is it running there? --server, --context or KUBECONFIG choose another one)"
        return f"Unable to connect to the server: {error}{hint}"
    return f"error: {error}"


def _invalid(error: ApiError) -> str:
    head, details = "The request is invalid", error.details or {}
    kind, name = details.get("kind", ""), details.get("name", "")
    if kind or name:
        head = f'The {kind} "{name}" is invalid'
    texts = list(dict.fromkeys(f"{cause.get('field', '')}: {cause.get('message', '')}" for cause in error.causes))
    if texts:
        return f"{head}: " + (texts[0] if len(texts) == 1 else "".join(f"\n* {text}" for text in texts))
    return head if kind or name else f"{head}: {error.message}"
