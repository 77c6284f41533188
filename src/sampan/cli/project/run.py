"""`sampan run`."""

import asyncio
import sys
from functools import partial
from pathlib import Path

import click

from sampan.cli.project.consent import accepted
from sampan.cli.project.outcome import one_line
from sampan.cli.project.unreached import hint_of
from sampan.client import ClientError
from sampan.core.telemetry.log import configure_logging
from sampan.project.errors import ProjectError
from sampan.project.pyproject import project_at
from sampan.project.running.inspection import listen_for_debugger, profiled
from sampan.project.running.session import RunOptions, run_project
from sampan.testing.time.scaled_time import ScaledTimeLoop

_LEVELS = ("debug", "info", "warning", "error")


@click.command("run")
@click.option("--context", default="", help="Run against this context of the kubeconfig, after you accepted the diff.")
@click.option("--yes", is_flag=True, help="With --context: accept the diff of what will be applied.")
@click.option("--as-deployed", is_flag=True, help="Give the operator only the rights of its generated role.")
@click.option(
    "--log-level", default="info", show_default=True, type=click.Choice(_LEVELS), help="Least level of the log."
)
@click.option(
    "--time-scale",
    default=1.0,
    type=click.FloatRange(1.0, 100_000.0),
    help="Let the clock of server and operator run this many times as fast: 3600 for a day in 24 seconds.",
)
@click.option("--profile", is_flag=True, help="Print at the end which functions took the time.")
@click.option(
    "--debugpy",
    "debug_port",
    is_flag=False,
    flag_value=5678,
    type=click.IntRange(1, 65535),
    metavar="[PORT]",
    help="Let a debugger attach at this port of 127.0.0.1, by default 5678.",
)
def run_command(
    context: str,
    yes: bool,
    as_deployed: bool,
    log_level: str,
    time_scale: float,
    profile: bool,
    debug_port: int | None,
) -> int:
    """Run the operator of this project with a server in memory, its CRDs and its samples.

    A saved file takes effect at once, and the objects of the cluster stay. Ctrl-C ends all of it.
    """
    with one_line():
        settings = project_at(Path.cwd())
        configure_logging(log_level, "auto")
        if context and time_scale != 1.0:
            raise ProjectError("--time-scale is for the server in memory: the clock of a cluster cannot be changed")
        if debug_port is not None:
            click.echo(f"a debugger can attach to {listen_for_debugger(debug_port)}")
        options = RunOptions(
            context, as_deployed, lambda diff: _accepted(diff, yes), time_scale, shows_dashboard=sys.stdout.isatty()
        )
        loop = partial(ScaledTimeLoop, time_scale) if time_scale != 1.0 else None
        try:
            with asyncio.Runner(loop_factory=loop) as runner, profiled(settings.root if profile else None, click.echo):
                runner.run(run_project(settings, options, click.echo, asyncio.Event()))
        except ClientError as error:
            raise ProjectError(f"{error}{hint_of(error)}") from error
    return 0


def _accepted(diff: str, yes: bool) -> bool:
    """Print a diff, and return True if the user accepts it. A script accepts with --yes only."""
    click.echo(diff, nl=False)
    return accepted(yes, "Apply this?")
