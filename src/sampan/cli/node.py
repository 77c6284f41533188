"""`sampan node`: nodes as a process of their own."""

from pathlib import Path
from typing import Any

import click

from sampan.app.loops.run import run_loops
from sampan.app.loops.settings import LoopSettings, NodeSettings
from sampan.app.settings import RUNTIMES
from sampan.cli.loop_options import loop_options
from sampan.node.set_up import node_names

_DEFAULTS = NodeSettings()


def _images(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in texts:
        name, equals, place = text.partition("=")
        if not (name and equals and place):
            raise click.BadParameter(f"{text!r} is not NAME=DIR", ctx, param)
        pairs.append((name, place))
    return tuple(pairs)


@click.command("node")
@click.option("--runtime", type=click.Choice(RUNTIMES), default="simulated", show_default=True)
@click.option(
    "--simulated",
    type=click.IntRange(1, 32768),
    default=1,
    show_default=True,
    help="How many nodes to simulate: nothing really runs on them.",
)
@click.option(
    "--node-name", default="node", show_default=True, help="The name; of several nodes what their names begin with."
)
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    default=_DEFAULTS.root,
    show_default=True,
    help="What a node of processes keeps: volumes, logs, records.",
)
@click.option(
    "--image",
    "images",
    metavar="NAME=DIR",
    multiple=True,
    callback=_images,
    help="The directory that an image stands for, or 'host'. May be repeated.",
)
@click.option(
    "--image-dir",
    "image_directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where DIR/<repository>/<tag> and DIR/<repository> are looked for. Other images mean this machine.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the nodes' own server; 0 picks a free one.")
@click.option(
    "--address",
    default=_DEFAULTS.address,
    show_default=True,
    help="Where the nodes' own server listens, and the API server finds it.",
)
@click.option(
    "--pod-address",
    default=_DEFAULTS.pod_address,
    help="The address of all Pods of a node of processes. By default the one from which this machine asks others.",
)
@loop_options
def node_command(runtime: str, simulated: int, node_name: str, kubeconfig: Path | None, **options: Any) -> None:
    """Run nodes. On simulated ones Pods become ready, complete or fail as their annotations say.

    \b
    sampan.dev/ready-after: 2s      ready so long after the start
    sampan.dev/complete-after: 5s   ended so long after the start, with exit code 0
    sampan.dev/fail-after: 5s       the same with exit code 1
    sampan.dev/exit-code: "3"       another exit code
    sampan.dev/stop-after: 1s       how long containers take to end when they are stopped
    sampan.dev/cpu: 250m            what each uses while it runs, for metrics; else nothing
    sampan.dev/memory: 64Mi         the same of memory

    With --runtime process there is one node: the containers of its Pods are processes of this machine.
    """
    if runtime == "process" and simulated != 1:
        raise click.UsageError("--simulated is for simulated nodes: of processes there is one")
    own = {name: options.pop(name) for name in ("root", "images", "image_directory", "port", "address", "pod_address")}
    names = tuple(node_names(simulated, node_name))
    run_loops(LoopSettings(kubeconfig, nodes=names, node=NodeSettings(runtime, **own), **options))
