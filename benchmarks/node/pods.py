"""`python -m benchmarks.node.pods`: creates or deletes Pods, and prints the seconds until all are ready or gone.

It runs in the namespaces of a machine, in its own process. Its own start does not count.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from typing import Any

import uvloop
from tests.e2e.cri.image import APP

from sampan.client import Client, ListOptions, load_config
from sampan.component_base.resources import PODS

_TIMEOUT_S = 180.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Create `--create` Pods, or delete all."""
    parser = argparse.ArgumentParser(prog="benchmarks.node.pods", description=__doc__)
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--create", type=int, default=0, help="Pods to create; 0: delete all")
    given = parser.parse_args(arguments)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(f"{runner.run(_timed(given.kubeconfig, given.create)):.3f}")


async def _timed(kubeconfig: str, create: int) -> float:
    async with (
        Client.from_config(load_config(kubeconfig), field_manager="bench") as client,
        asyncio.timeout(_TIMEOUT_S),
    ):
        pods = client.resource(PODS, namespace="default")
        listed = await pods.list()
        left = {each["metadata"]["name"] for each in listed}
        events = pods.watch(ListOptions(resource_version=listed.resource_version))
        began = time.perf_counter()
        if create:
            left = {f"bench-{number}" for number in range(create)}
            await asyncio.gather(*(pods.create(_pod(name)) for name in left))
        else:
            await asyncio.gather(*(pods.delete(name) for name in left))
        async for event in events:
            obj = event.object
            done = _is_ready(obj) if create else event.type == "DELETED"
            if done:
                left.discard(obj["metadata"]["name"])
            if not left:
                return time.perf_counter() - began
    raise ConnectionError("the watch has ended")


def _is_ready(pod: Any) -> bool:
    conditions = pod.get("status", {}).get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _pod(name: str) -> Any:
    container = {"name": "main", "image": APP, "command": ["sleep", "100000"]}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


if __name__ == "__main__":
    main()
