"""`make_template`: starts a cluster, sends its objects to the warm parent, and keeps its certificates."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import uvloop

from sampan.app.engines import MemoryEngine
from sampan.app.parts import ServerParts
from sampan.app.settings.service_ranges import allocators_of
from sampan.app.settings.up import UpSettings, without_loops
from sampan.app.up import run
from sampan.core.clock import utc_now
from sampan.registry.builtins import Builtins
from sampan.registry.cluster import Cluster
from sampan.server.apiserver import ApiServer
from sampan.server.pki.directory import ServerCredentials, prepare_credentials
from sampan.storage.memory import MemoryStore
from sampan.test_server.server_process import Inherited
from sampan.test_server.template import ClusterTemplate, taken_from


def make_template(ranges: Sequence[str], data: Path, inherited: Inherited, descriptor: int) -> None:
    """Write the template of clusters with these ranges of Services to a pipe.

    The first one in a directory also leaves its certificates and keys, which later servers copy.
    """
    arguments = [f"--service-cluster-ip-range={','.join(ranges)}"] if ranges else []
    settings = without_loops(inherited.read_settings([*arguments, "--secure-port=0"]))
    settings = _in_memory(settings, data)
    found: list[ClusterTemplate] = []
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_start(settings, inherited, found))
    with suppress(OSError):  # another template was first
        data.rename(inherited.template_data)
    with os.fdopen(descriptor, "wb") as pipe:
        pipe.write(found[0].encode())


def template_credentials(directory: Path) -> ServerCredentials | None:
    """Return the credentials that a template has left, or None without them. Expired ones are replaced."""
    if not (directory / "pki").is_dir():
        return None
    return prepare_credentials(directory, (), utc_now())


def _in_memory(settings: UpSettings, data: Path) -> UpSettings:
    return replace(settings, data=data, storage=MemoryEngine(), drain_timeout_s=0.0)


async def _start(settings: UpSettings, inherited: Inherited, found: list[ClusterTemplate]) -> None:
    store = MemoryStore()

    def cluster(settings: UpSettings) -> Cluster:
        return Cluster(store, allocators=allocators_of(settings), builtins=Builtins(inherited.schemas))

    async def beside(api: ApiServer, token: str) -> None:
        found.append(await taken_from(store))
        api.lifecycle.stop()

    await run(settings, _silent, ServerParts(cluster=cluster, beside=beside))


def _silent(line: str) -> None:
    """Announce nothing: no client has ordered this server."""
