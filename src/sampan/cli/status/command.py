"""`sampan status`."""

import asyncio
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
import orjson

from sampan.app.settings.up import UpSettings
from sampan.cli.plain_error import PlainError
from sampan.cli.status.data import DataStatus, faults_of, read_data_status
from sampan.cli.status.server import ServerStatus, read_server_status
from sampan.cli.status.text import lines_of
from sampan.client import Client, ClientError, ConfigError, load_config
from sampan.client.transports.warnings import ignore_warnings
from sampan.wire.yaml_emit import encode

_TIMEOUT_S = 10.0
DATA = UpSettings().data
KUBECONFIG = "KUBECONFIG"


@dataclass(slots=True)
class Status:
    """Report of the command."""

    data: DataStatus | None = None
    server: ServerStatus | None = None
    todo: list[str] = field(default_factory=list)
    """Faults, each with the action to take. Empty if there are none."""


@click.command("status")
@click.option(
    "--data", type=click.Path(path_type=Path), help=f"Data directory; by default {DATA} or data, without $KUBECONFIG."
)
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Kubeconfig of a server without a data directory.")
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", help="Format.")
def status_command(data: Path | None, kubeconfig: Path | None, output: str) -> int:
    """Show what runs, where, how full it is, and what to do.

    The exit code is 0 if all is well, 1 otherwise.
    """
    status = asyncio.run(_collect(_directory(data, kubeconfig), kubeconfig))
    if output == "json":
        click.echo(orjson.dumps(asdict(status), option=orjson.OPT_INDENT_2))
    elif output == "yaml":
        click.echo(encode(_plain(asdict(status))), nl=False)
    else:
        click.echo("\n".join(lines_of(status.data, status.server, status.todo)))
    return 1 if status.todo else 0


def _directory(data: Path | None, kubeconfig: Path | None) -> Path | None:
    """Return the data directory to report on.

    Without options: the server of $KUBECONFIG if it is set, then the directory of `sampan up`, then that of `make up`.
    """
    if data is not None or kubeconfig is not None:
        return data
    found = [each for each in (DATA, Path("data")) if (each / "lock").exists()]
    named = os.environ.get(KUBECONFIG, "")
    if named:
        # A kubeconfig of a data directory shows both.
        found = [each for each in found if (each / "kubeconfig").resolve() == Path(named).resolve()]
    return found[0] if found else None


async def _collect(directory: Path | None, kubeconfig: Path | None) -> Status:
    status = Status()
    if directory is not None:
        try:
            status.data = read_data_status(directory)
        except OSError as error:
            raise PlainError(f"error: cannot read {error.filename or directory}: {error.strerror}") from error
        if status.data is None:
            raise PlainError(f"error: {directory} is no data directory: `sampan up --data {directory}` makes one")
        status.todo += faults_of(status.data)
        if not status.data.in_use:
            if status.data.damage:
                return status
            status.todo.append(f"no server runs on {directory}: start it with `sampan up --data {directory}`")
            return status
        kubeconfig = directory / "kubeconfig"
    await _add_server(status, kubeconfig)
    return status


async def _add_server(status: Status, kubeconfig: Path | None) -> None:
    try:
        config = load_config(kubeconfig)
    except ConfigError as error:
        raise PlainError(f"error: {error} (--data DIRECTORY or --kubeconfig FILE names the server)") from error
    try:
        async with asyncio.timeout(_TIMEOUT_S), Client.from_config(config, warnings=ignore_warnings) as client:
            status.server = await read_server_status(client, config.server)
    except (ClientError, TimeoutError) as error:
        text = str(error) or f"no response in {_TIMEOUT_S:.0f} s"
        status.todo.append(f"the server at {config.server} cannot be read: {text}: look at its log")
        return
    status.todo += [f"{name} is not healthy: look at the server's log" for name in status.server.failing]
    for name in status.server.nodes_not_ready:
        status.todo.append(f"node {name} is not ready: see `sampan describe node {name}`")


def _plain(value: Any) -> Any:
    """Return the value with lists in place of tuples."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
