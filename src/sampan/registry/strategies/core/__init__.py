"""The strategies of the core API group, and of what other groups share with it: pod templates, claims, events."""

from sampan.registry.strategies.core.allocators import Allocators
from sampan.registry.strategies.core.binding import BindingStrategy, apply_binding, check_binding_name, validate_binding
from sampan.registry.strategies.core.configmap import ConfigMapStrategy
from sampan.registry.strategies.core.endpoints import EndpointsStrategy
from sampan.registry.strategies.core.event import EventStrategy, NewEventStrategy
from sampan.registry.strategies.core.limitrange import LimitRangeStrategy
from sampan.registry.strategies.core.namespace import NamespaceStrategy
from sampan.registry.strategies.core.node import NodeStrategy
from sampan.registry.strategies.core.parts import PARTS
from sampan.registry.strategies.core.persistentvolume import PersistentVolumeStrategy
from sampan.registry.strategies.core.persistentvolumeclaim import PersistentVolumeClaimStrategy
from sampan.registry.strategies.core.pod import PodStrategy
from sampan.registry.strategies.core.podtemplate import PodTemplateStrategy
from sampan.registry.strategies.core.replicationcontroller import ReplicationControllerStrategy
from sampan.registry.strategies.core.resourcequota import ResourceQuotaStrategy
from sampan.registry.strategies.core.secret import SecretStrategy
from sampan.registry.strategies.core.service import ServiceStrategy
from sampan.registry.strategies.core.serviceaccount import ServiceAccountStrategy
from sampan.registry.strategy import Strategy

__all__ = [
    "EVENTS_STRATEGY",
    "PARTS",
    "STRATEGIES",
    "Allocators",
    "apply_binding",
    "check_binding_name",
    "validate_binding",
]

STRATEGIES: dict[str, Strategy] = {
    "bindings": BindingStrategy(),
    "configmaps": ConfigMapStrategy(),
    "endpoints": EndpointsStrategy(),
    "events": EventStrategy(),
    "limitranges": LimitRangeStrategy(),
    "namespaces": NamespaceStrategy(),
    "nodes": NodeStrategy(),
    "persistentvolumeclaims": PersistentVolumeClaimStrategy(),
    "persistentvolumes": PersistentVolumeStrategy(),
    "pods": PodStrategy(),
    "podtemplates": PodTemplateStrategy(),
    "replicationcontrollers": ReplicationControllerStrategy(),
    "resourcequotas": ResourceQuotaStrategy(),
    "secrets": SecretStrategy(),
    "serviceaccounts": ServiceAccountStrategy(),
    "services": ServiceStrategy(),
}
"""By resource, for the core group."""

EVENTS_STRATEGY: Strategy = NewEventStrategy()
"""For `events` of events.k8s.io/v1, on objects in core/v1 form."""
