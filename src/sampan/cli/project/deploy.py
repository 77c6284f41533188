"""`sampan deploy`."""

import asyncio
import functools
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import click

from sampan.cli.project.consent import accepted
from sampan.cli.project.outcome import one_line
from sampan.cli.project.unreached import hint_of
from sampan.client import Client, ClientError, ConfigOverrides, TransportError, load_config
from sampan.oci.errors import OciError
from sampan.project.deploying.plan import DeployPlan
from sampan.project.deploying.session import DeployOptions, deploy_project
from sampan.project.errors import ProjectError
from sampan.project.pyproject import Settings, project_at

_OPTIONS = (
    click.option("--context", default="", help="Context of the kubeconfig; default: the current one."),
    click.option("--kubeconfig", metavar="PATH", default="", help="Kubeconfig file; overrides KUBECONFIG."),
    click.option("-n", "--namespace", default="", help="Namespace of the operator; default: that of the project."),
    click.option("--yes", is_flag=True, help="Accept what will be changed, for scripts."),
)


def on_cluster(command: Callable[..., Awaitable[int]]) -> Callable[..., int]:
    """Turn a coroutine function `command(client, project, …)` into a click callback with the options of a cluster."""

    @functools.wraps(command)
    def callback(*, context: str, kubeconfig: str, **options: Any) -> int:
        async def run(project: Settings) -> int:
            place = Path(kubeconfig) if kubeconfig else None
            config = load_config(place, overrides=ConfigOverrides(context=context))
            async with Client.from_config(config, field_manager="sampan-deploy") as client:
                return await command(client, project, **options)

        with one_line():
            try:
                return asyncio.run(run(project_at(Path.cwd())))
            except TransportError as error:
                hint = hint_of(error, options="--context and --kubeconfig choose")
                raise ProjectError(f"cannot reach the cluster: {error}{hint}") from error
            except (ClientError, OciError) as error:
                raise ProjectError(str(error)) from error

    for option in reversed(_OPTIONS):
        callback = option(callback)
    return callback


@click.command("deploy")
@on_cluster
@click.option("--diff", is_flag=True, help="Print all changes, and write nothing.")
@click.option("--image", default="", help="Image that the nodes can pull or have already; default: build and push it.")
@click.option("--insecure-registry", "insecure", multiple=True, help="Registry (host:port) without TLS.")
@click.option("--take-over", is_flag=True, help="Take objects and fields that have other owners.")
@click.option(
    "--timeout", default=120.0, show_default=True, type=click.FloatRange(1, 3600), help="Seconds to wait for the Pods."
)
async def deploy_command(
    client: Client,
    project: Settings,
    *,
    namespace: str,
    yes: bool,
    diff: bool,
    image: str,
    insecure: tuple[str, ...],
    take_over: bool,
    timeout: float,
) -> int:
    """Run the operator of this project in a cluster: image, CRDs, rights and Deployment.

    Prints what will change, applies it after your consent, and waits until the operator is ready. If it is not ready in
    time, prints why: events, states of containers, and the last log lines.

    \b
    sampan deploy                       # to the current context of your kubeconfig
    sampan deploy --diff                # only print what would change
    """

    def consent(plan: DeployPlan) -> bool:
        click.echo(plan.text(in_full=diff), nl=False)
        return not diff and accepted(yes, "Apply this?")

    options = DeployOptions(cache_folder(), consent, namespace, image, insecure, take_over=take_over, timeout_s=timeout)
    done = await deploy_project(client, project, options, lambda line: click.echo(line, err=True))
    return 0 if done or diff else 1


def cache_folder() -> Path:
    """Return the folder for what can be made again."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "sampan")
