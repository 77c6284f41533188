"""`SchedulerConfiguration`: a KubeSchedulerConfiguration, as far as it says something to this scheduler.

Passed over is what means nothing here: parallelism and percentageOfNodesToScore, and leader election and client
connection, which are the manager's. Source: kube-scheduler config/v1/types.go, pkg/scheduler/apis/config (1.36).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client.http.tls import TlsOptions
from sampan.core.time import parse_duration
from sampan.scheduler.extender.http_extender import ExtenderConfig
from sampan.scheduler.queue.scheduling_queue import Backoff

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
"""The plugins of a profile that says nothing, in their order, with the weights of their scores."""

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
"""Points that are no ones of their own here."""
_NS_PER_S: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """One profile."""

    scheduler_name: str = DEFAULT_SCHEDULER
    plugins: Mapping[str, int] = field(default_factory=lambda: dict(DEFAULT_PLUGINS))
    """The plugins in their order, with the weights of their scores (0: a plugin's own default is 1 if it scores)."""
    off: Mapping[str, Collection[str]] = field(default_factory=dict)
    """For each extension point the plugins that are not asked there."""
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What plugins are told, by their names."""


@dataclass(frozen=True, slots=True)
class SchedulerConfiguration:
    """Everything that can be said."""

    profiles: tuple[ProfileConfig, ...] = (ProfileConfig(),)
    extenders: tuple[ExtenderConfig, ...] = ()
    backoff: Backoff = field(default_factory=Backoff)
    seed: int | None = None
    """For ties; None: chance."""


def read_configuration(document: Mapping[str, Any]) -> SchedulerConfiguration:
    """A decoded KubeSchedulerConfiguration. Raises `ValueError`."""
    kind = document.get("kind", "KubeSchedulerConfiguration")
    if kind != "KubeSchedulerConfiguration":
        raise ValueError(f"kind: {kind!r} is no KubeSchedulerConfiguration")
    said: Sequence[Mapping[str, Any]] = document.get("profiles") or ({},)
    profiles = tuple(map(_profile, said))
    names = [profile.scheduler_name for profile in profiles]
    if len(set(names)) < len(names):
        raise ValueError("profiles: two have the same schedulerName")
    backoff = Backoff(
        float(document.get("podInitialBackoffSeconds") or 1), float(document.get("podMaxBackoffSeconds") or 10)
    )
    extenders = tuple(_extender(each) for each in document.get("extenders") or ())
    return SchedulerConfiguration(profiles, extenders, backoff)


def _profile(said: Mapping[str, Any]) -> ProfileConfig:
    plugins = dict(DEFAULT_PLUGINS)
    points = said.get("plugins") or {}
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
            raise ValueError(f"plugins: there is no extension point {point!r}")
        enabled = {each["name"]: int(each.get("weight") or 0) for each in sets.get("enabled") or ()}
        gone = _names(sets.get("disabled"))
        off[_POINTS[point]] = (set(plugins) if "*" in gone else gone) - set(enabled)
        for name, weight in enabled.items():
            plugins[name] = weight or plugins.get(name) or DEFAULT_PLUGINS.get(name, 0)
    arguments = {each["name"]: each.get("args") or {} for each in said.get("pluginConfig") or ()}
    return ProfileConfig(said.get("schedulerName") or DEFAULT_SCHEDULER, plugins, off, arguments)


def _names(sets: Any) -> set[str]:
    return {each["name"] for each in sets or ()}


def _extender(said: Mapping[str, Any]) -> ExtenderConfig:
    managed = said.get("managedResources") or ()
    tls = said.get("tlsConfig") or {}
    if not said.get("urlPrefix"):
        raise ValueError("extenders: one has no urlPrefix")
    return ExtenderConfig(
        url_prefix=said["urlPrefix"],
        filter_verb=said.get("filterVerb") or "",
        prioritize_verb=said.get("prioritizeVerb") or "",
        bind_verb=said.get("bindVerb") or "",
        preempt_verb=said.get("preemptVerb") or "",
        weight=int(said.get("weight") or 1),
        timeout_s=parse_duration(said["httpTimeout"]) / _NS_PER_S if said.get("httpTimeout") else 5.0,
        node_cache_capable=bool(said.get("nodeCacheCapable")),
        managed_resources=frozenset(each["name"] for each in managed),
        ignored_resources=frozenset(each["name"] for each in managed if each.get("ignoredByScheduler")),
        ignorable=bool(said.get("ignorable")),
        tls=TlsOptions(
            ca_file=tls.get("caFile") or "",
            certificate_file=tls.get("certFile") or "",
            key_file=tls.get("keyFile") or "",
            server_name=tls.get("serverName") or "",
            insecure=bool(tls.get("insecure")),
        ),
    )
