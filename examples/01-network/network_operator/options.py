"""Command line of both controllers."""

import argparse
import asyncio
import contextlib
import logging
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from network_operator.neutron import NeutronBackend
from sampan.client import Client, connect


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line."""

    neutron: str
    workers: int
    recheck_s: float
    lease_s: float
    """Seconds after which another replica takes over from a leader that does not renew its lease."""
    probes: str
    """Address (HOST:PORT) for health and metrics; empty for none."""


def backend_of(options: Options) -> NeutronBackend:
    """Return the backend for the options."""
    return NeutronBackend(options.neutron)


def parse() -> Options:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Create the Networks of a cluster in OpenStack Neutron.")
    parser.add_argument("--neutron", default="http://127.0.0.1:9696", help="Neutron's URL (%(default)s)")
    parser.add_argument("--workers", type=int, default=4, help="concurrent reconciles (%(default)s)")
    parser.add_argument("--recheck", type=float, default=60.0, help="seconds between checks for drift (%(default)s)")
    parser.add_argument("--lease", type=float, default=15.0, help="lease of the leader in seconds (%(default)s)")
    parser.add_argument("--probes", default="", metavar="HOST:PORT", help="address for health and metrics")
    given = parser.parse_args()
    return Options(given.neutron, given.workers, given.recheck, given.lease, given.probes)


def main(run: Callable[[Client, Options], Awaitable[None]]) -> None:
    """Run a controller on the cluster of the kubeconfig until Ctrl-C or SIGTERM."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    options = parse()

    async def connected() -> None:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        async with connect(field_manager="network-operator") as client:
            await run(client, options)

    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(connected())
