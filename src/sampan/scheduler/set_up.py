"""`set_up`: a scheduler in a manager.

Concurrency: the informers' handlers fill cache and queue on every replica; the leader alone runs the `Scheduler`.
"""

import asyncio
import random
from collections.abc import Mapping
from typing import Any

from sampan.informer.registration import Registration
from sampan.loops.context import ControllerContext
from sampan.loops.resources import NAMESPACES, NODES
from sampan.loops.views import POD_VIEW
from sampan.scheduler.algorithm import Algorithm
from sampan.scheduler.cache.cache import Cache
from sampan.scheduler.event_handlers import NamespaceHandler, NodeHandler, PodHandler
from sampan.scheduler.extender import Extenders
from sampan.scheduler.framework.framework import Framework
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, Plugin
from sampan.scheduler.plugins.default_binder import DefaultBinder
from sampan.scheduler.plugins.image_locality import ImageLocality
from sampan.scheduler.plugins.node_affinity import NodeAffinity
from sampan.scheduler.plugins.node_name import NodeName
from sampan.scheduler.plugins.node_ports import NodePorts
from sampan.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from sampan.scheduler.plugins.node_resources_fit import NodeResourcesFit
from sampan.scheduler.plugins.node_unschedulable import NodeUnschedulable
from sampan.scheduler.plugins.scheduling_gates import SchedulingGates
from sampan.scheduler.plugins.taint_toleration import TaintToleration
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.queue.scheduling_queue import SchedulingQueue
from sampan.scheduler.scheduler import Parts, Profile, Scheduler


def set_up(context: ControllerContext) -> None:
    """Have the manager run a scheduler with the default plugins, for Pods of `default-scheduler`."""
    name = "default-scheduler"
    client = context.manager.client.direct
    plugins: list[Plugin] = [
        SchedulingGates(),
        NodeUnschedulable(),
        NodeName(),
        TaintToleration(),
        NodeAffinity(),
        NodePorts(),
        NodeResourcesFit(),
        NodeResourcesBalancedAllocation(),
        ImageLocality(),
        DefaultBinder(client),
    ]
    weights = {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }
    framework = Framework(plugins, weights, name)
    profiles = {name: Profile(framework, context.recorder(name))}

    def gate(pod: PodInfo) -> str:
        return next((why for each in framework.pre_enqueue if (why := each.pre_enqueue(pod))), "")

    def hints(pod: PodInfo) -> Mapping[str, Mapping[ClusterEvent, Hint]]:
        return {plugin.name: plugin.events for plugin in framework.plugins}

    loop = asyncio.get_running_loop()
    cache = Cache(loop.time)
    queue = SchedulingQueue(gate, hints)
    pods = PodHandler(cache, queue, profiles)
    registrations: list[Registration[Any]] = [
        context.informer(NAMESPACES).add_handler(NamespaceHandler(cache, queue)),
        context.informer(NODES).add_handler(NodeHandler(cache, queue)),
        context.informer(POD_VIEW).add_handler(pods),
    ]
    algorithm = Algorithm(queue.nominator, Extenders(), random.Random())
    scheduler = Scheduler(Parts(client, context.clock, cache, queue, pods.pending, algorithm, profiles))

    async def run() -> None:
        for registration in registrations:
            await registration.synced()
        await scheduler.run()

    context.manager.add(run)
