"""Tables of leases, classes and devices."""

from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, NAME, at, boolean, column, integer
from sampan.registry.columns.tables import Tables


def _claim_state(claim: Object) -> str:
    status = claim.get("status", EMPTY)
    states = ["deleted"] if "deletionTimestamp" in claim["metadata"] else []
    if "allocation" in status:
        states.append("allocated")
        if status.get("reservedFor"):
            states.append("reserved")
    elif not states:
        states.append("pending")
    return ",".join(states)


def cluster_tables(ages: Ages) -> Tables:
    """Tables of coordination, scheduling, node and resource."""
    age = ages.column
    return {
        ("coordination.k8s.io", "leases", "v1"): (NAME, column("Holder", at("spec", "holderIdentity")), age),
        ("scheduling.k8s.io", "priorityclasses", "v1"): (
            NAME,
            integer("Value", at("value", default=0)),
            boolean("Global-Default", at("globalDefault", default=False)),
            age,
            column("PreemptionPolicy", at("preemptionPolicy")),
        ),
        ("node.k8s.io", "runtimeclasses", "v1"): (NAME, column("Handler", at("handler")), age),
        ("resource.k8s.io", "deviceclasses", "v1"): (NAME, age),
        ("resource.k8s.io", "resourceclaims", "v1"): (NAME, column("State", _claim_state), age),
        ("resource.k8s.io", "resourceclaimtemplates", "v1"): (NAME, age),
        ("resource.k8s.io", "resourceslices", "v1"): (
            NAME,
            column("Node", at("spec", "nodeName")),
            column("Driver", at("spec", "driver")),
            column("Pool", at("spec", "pool", "name")),
            age,
        ),
    }
