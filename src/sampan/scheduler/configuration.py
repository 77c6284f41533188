"""`SchedulerConfiguration`: the parts of a KubeSchedulerConfiguration that this scheduler uses.

These fields are ignored: parallelism and percentageOfNodesToScore, which have no meaning for this scheduler; leader
election and client connection, which the manager handles. Source: kube-scheduler config/v1/types.go,
pkg/scheduler/apis/config (1.36).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.core.time import parse_duration
from sampan.http.client.tls import TlsOptions
from sampan.scheduler.extender.http_extender import ExtenderConfig
from sampan.scheduler.queue.scheduling_queue import PodBackoff

DEFAULT_SCHEDULER: Final = "default-scheduler"
DEFAULT_PLUGINS: Final[Mapping[str, int]] = {
    "SchedulingGates": 0,
    "PrioritySort": 0,
    "NodeUnschedulable": 0,
    "NodeName": 0,
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodePorts": 0,
    "NodeResourcesFit": 1,
    "VolumeRestrictions": 0,
    "NodeVolumeLimits": 0,
    "VolumeBinding": 0,
    "VolumeZone": 0,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DefaultPreemption": 0,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "DefaultBinder": 0,
}
"""The plugins of a default profile in their order, with the weights of their scores."""

_POINTS: Final[Mapping[str, str]] = {
    "preEnqueue": "pre_enqueue",
    "filter": "filter",
    "postFilter": "post_filter",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
}
_SAME_POINTS: Final = frozenset({"queueSort", "preFilter", "preScore"})
"""Extension points of Kubernetes that are part of other extension points in this scheduler."""
_NS_PER_S: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """Configuration of one profile."""

    scheduler_name: str = DEFAULT_SCHEDULER
    plugins: Mapping[str, int] = field(default_factory=lambda: dict(DEFAULT_PLUGINS))
    """Plugins in their order, with the weights of their scores. 0 means 1 for a plugin that scores."""
    off: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Plugins that are disabled, by extension point."""
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Arguments of plugins, by plugin name."""


@dataclass(frozen=True, slots=True)
class SchedulerConfiguration:
    """The whole configuration."""

    profiles: tuple[ProfileConfig, ...] = (ProfileConfig(),)
    extenders: tuple[ExtenderConfig, ...] = ()
    backoff: PodBackoff = field(default_factory=PodBackoff)
    seed: int | None = None
    """Seed of the random choice between Nodes with equal scores; None for a random seed."""


def read_configuration(document: Mapping[str, Any]) -> SchedulerConfiguration:
    """Read a decoded KubeSchedulerConfiguration. Raises `ValueError`."""
    kind = document.get("kind", "KubeSchedulerConfiguration")
    if kind != "KubeSchedulerConfiguration":
        raise ValueError(f"kind: {kind!r} is not KubeSchedulerConfiguration")
    specs: Sequence[Mapping[str, Any]] = document.get("profiles") or ({},)
    profiles = tuple(map(_profile, specs))
    names = [profile.scheduler_name for profile in profiles]
    if len(set(names)) < len(names):
        raise ValueError("profiles: two profiles have the same schedulerName")
    backoff = PodBackoff(
        float(document.get("podInitialBackoffSeconds") or 1), float(document.get("podMaxBackoffSeconds") or 10)
    )
    extenders = tuple(_extender(each) for each in document.get("extenders") or ())
    return SchedulerConfiguration(profiles, extenders, backoff)


def _profile(profile: Mapping[str, Any]) -> ProfileConfig:
    plugins = dict(DEFAULT_PLUGINS)
    points = profile.get("plugins") or {}
    everywhere = points.get("multiPoint") or {}
    disabled = _names(everywhere.get("disabled"))
    plugins = {} if "*" in disabled else {name: weight for name, weight in plugins.items() if name not in disabled}
    for each in everywhere.get("enabled") or ():
        plugins[each["name"]] = int(each.get("weight") or DEFAULT_PLUGINS.get(each["name"], 0))
    off: dict[str, Collection[str]] = {}
    for point, sets in points.items():
        if point in _SAME_POINTS or point == "multiPoint":
            continue
        if point not in _POINTS:
            raise ValueError(f"plugins: unknown extension point {point!r}")
        enabled = {each["name"]: int(each.get("weight") or 0) for each in sets.get("enabled") or ()}
        removed = _names(sets.get("disabled"))
        off[_POINTS[point]] = (set(plugins) if "*" in removed else removed) - set(enabled)
        for name, weight in enabled.items():
            plugins[name] = weight or plugins.get(name) or DEFAULT_PLUGINS.get(name, 0)
    arguments = {each["name"]: each.get("args") or {} for each in profile.get("pluginConfig") or ()}
    return ProfileConfig(profile.get("schedulerName") or DEFAULT_SCHEDULER, plugins, off, arguments)


def _names(sets: Any) -> set[str]:
    return {each["name"] for each in sets or ()}


def _extender(extender: Mapping[str, Any]) -> ExtenderConfig:
    managed = extender.get("managedResources") or ()
    tls = extender.get("tlsConfig") or {}
    if not extender.get("urlPrefix"):
        raise ValueError("extenders: an extender has no urlPrefix")
    return ExtenderConfig(
        url_prefix=extender["urlPrefix"],
        filter_verb=extender.get("filterVerb") or "",
        prioritize_verb=extender.get("prioritizeVerb") or "",
        bind_verb=extender.get("bindVerb") or "",
        preempt_verb=extender.get("preemptVerb") or "",
        weight=int(extender.get("weight") or 1),
        timeout_s=parse_duration(extender["httpTimeout"]) / _NS_PER_S if extender.get("httpTimeout") else 5.0,
        node_cache_capable=bool(extender.get("nodeCacheCapable")),
        managed_resources=frozenset(each["name"] for each in managed),
        ignored_resources=frozenset(each["name"] for each in managed if each.get("ignoredByScheduler")),
        ignorable=bool(extender.get("ignorable")),
        tls=TlsOptions(
            ca_file=tls.get("caFile") or "",
            certificate_file=tls.get("certFile") or "",
            key_file=tls.get("keyFile") or "",
            server_name=tls.get("serverName") or "",
            insecure=bool(tls.get("insecure")),
        ),
    )
