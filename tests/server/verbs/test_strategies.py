"""Properties of each built-in resource: its answers and the fields it keeps, in one table.

Source: kubernetes pkg/registry/*/*/{strategy,storage}.go (1.36).
"""

import pytest

from sampan.registry.cluster import Cluster
from sampan.registry.strategy import Strategy
from sampan.storage.memory import MemoryStore

HAS_GENERATION = """
pods podtemplates replicationcontrollers
apps/daemonsets apps/deployments apps/replicasets apps/statefulsets
batch/cronjobs batch/jobs
discovery.k8s.io/endpointslices
networking.k8s.io/ingressclasses networking.k8s.io/ingresses networking.k8s.io/networkpolicies
policy/poddisruptionbudgets
scheduling.k8s.io/priorityclasses
storage.k8s.io/csidrivers
resource.k8s.io/deviceclasses resource.k8s.io/resourceslices
flowcontrol.apiserver.k8s.io/flowschemas flowcontrol.apiserver.k8s.io/prioritylevelconfigurations
apiextensions.k8s.io/customresourcedefinitions
admissionregistration.k8s.io/mutatingadmissionpolicies admissionregistration.k8s.io/mutatingadmissionpolicybindings
admissionregistration.k8s.io/mutatingwebhookconfigurations
admissionregistration.k8s.io/validatingadmissionpolicies admissionregistration.k8s.io/validatingadmissionpolicybindings
admissionregistration.k8s.io/validatingwebhookconfigurations
"""
NO_UNCONDITIONAL_UPDATE = """
apiextensions.k8s.io/customresourcedefinitions apiregistration.k8s.io/apiservices
coordination.k8s.io/leases node.k8s.io/runtimeclasses policy/poddisruptionbudgets
storage.k8s.io/csidrivers storage.k8s.io/csinodes storage.k8s.io/csistoragecapacities storage.k8s.io/volumeattachments
admissionregistration.k8s.io/mutatingadmissionpolicies admissionregistration.k8s.io/mutatingadmissionpolicybindings
admissionregistration.k8s.io/mutatingwebhookconfigurations
admissionregistration.k8s.io/validatingadmissionpolicies admissionregistration.k8s.io/validatingadmissionpolicybindings
admissionregistration.k8s.io/validatingwebhookconfigurations
"""
CREATE_ON_UPDATE = """
endpoints events limitranges services events.k8s.io/events coordination.k8s.io/leases node.k8s.io/runtimeclasses
rbac.authorization.k8s.io/clusterrolebindings rbac.authorization.k8s.io/clusterroles
rbac.authorization.k8s.io/rolebindings rbac.authorization.k8s.io/roles
"""
RETURNS_DELETED_OBJECT = """
namespaces persistentvolumeclaims persistentvolumes pods podtemplates resourcequotas serviceaccounts services
storage.k8s.io/csidrivers storage.k8s.io/csinodes storage.k8s.io/storageclasses storage.k8s.io/volumeattachments
storage.k8s.io/volumeattributesclasses
resource.k8s.io/deviceclasses resource.k8s.io/resourceclaims resource.k8s.io/resourceclaimtemplates
resource.k8s.io/resourceslices
"""
STATUS_SERVED = """
namespaces nodes persistentvolumeclaims persistentvolumes pods replicationcontrollers resourcequotas services
apiregistration.k8s.io/apiservices apiextensions.k8s.io/customresourcedefinitions
apps/daemonsets apps/deployments apps/replicasets apps/statefulsets
autoscaling/horizontalpodautoscalers batch/cronjobs batch/jobs
certificates.k8s.io/certificatesigningrequests
networking.k8s.io/ingresses networking.k8s.io/servicecidrs
policy/poddisruptionbudgets storage.k8s.io/volumeattachments
admissionregistration.k8s.io/validatingadmissionpolicies
resource.k8s.io/resourceclaims
flowcontrol.apiserver.k8s.io/flowschemas flowcontrol.apiserver.k8s.io/prioritylevelconfigurations
"""
PROPAGATION = {
    "batch/jobs": "Orphan",
    "replicationcontrollers": "Orphan",
    "events": "Unsupported",
    "events.k8s.io/events": "Unsupported",
}


def _strategies() -> dict[str, tuple[Strategy, bool]]:
    found = {}
    for definition in Cluster(MemoryStore()).registry.definitions():
        if "list" in definition.verbs and definition.resource != "componentstatuses":
            name = f"{definition.group}/{definition.resource}" if definition.group else definition.resource
            found[name] = (definition.strategy, any(version.status for version in definition.versions.values()))
    return found


STRATEGIES = _strategies()


def test_every_name_in_the_tables_is_a_resource() -> None:
    named = " ".join((HAS_GENERATION, NO_UNCONDITIONAL_UPDATE, CREATE_ON_UPDATE, RETURNS_DELETED_OBJECT, STATUS_SERVED))
    assert set(named.split()) | PROPAGATION.keys() <= STRATEGIES.keys()


@pytest.mark.parametrize("resource", STRATEGIES)
def test_a_resource_behaves_as_in_kubernetes(resource: str) -> None:
    strategy, status = STRATEGIES[resource]
    assert {
        "generation": strategy.has_generation,
        "unconditional update": strategy.allow_unconditional_update,
        "create on update": strategy.allow_create_on_update,
        "returns the deleted object": strategy.returns_deleted_object,
        "status": status,
        "propagation": strategy.default_propagation,
    } == {
        "generation": resource in HAS_GENERATION.split(),
        "unconditional update": resource not in NO_UNCONDITIONAL_UPDATE.split(),
        "create on update": resource in CREATE_ON_UPDATE.split(),
        "returns the deleted object": resource in RETURNS_DELETED_OBJECT.split(),
        "status": resource in STATUS_SERVED.split(),
        "propagation": PROPAGATION.get(resource, "Background"),
    }
