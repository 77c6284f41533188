"""Fill in fields of core objects that older servers did not have, in the same version v1.

Source: pkg/registry/core/service/storage/storage.go, pkg/registry/core/persistentvolumeclaim/strategy.go (1.36).
"""

from ipaddress import ip_address

from sampan.core.object import Object
from sampan.registry.old_versions.parts import member

_HAVE_ADDRESSES = ("ClusterIP", "NodePort", "LoadBalancer")


def service(obj: Object, primary_family: str) -> None:
    """Set the IP families and addresses of a Service stored before 1.20, which had one address and no families.

    A headless Service has no address to derive its family from, so it gets `primary_family`, the primary family of the
    cluster.
    """
    spec = member(obj, "spec")
    address = spec.get("clusterIP")
    if spec.get("type", "ClusterIP") == "ExternalName":
        spec.pop("internalTrafficPolicy", None)
    if not address:
        return
    addresses = spec["clusterIPs"] = spec.get("clusterIPs") or [address]
    if spec.get("type", "ClusterIP") not in _HAVE_ADDRESSES:
        return
    if spec.get("ipFamilies"):
        return
    if address == "None":
        both = sorted(("IPv4", "IPv6"), key=lambda family: family != primary_family)
        families = both[:1] if spec.get("selector") else both
    else:
        families = [f"IPv{ip_address(each).version}" for each in addresses]
    spec["ipFamilies"] = families
    spec["ipFamilyPolicy"] = "SingleStack" if len(families) == 1 else "RequireDualStack"


def persistent_volume_claim(obj: Object) -> None:
    """Set both fields for the source of a claim's data. Claims stored before 1.22 have only one of them."""
    spec = member(obj, "spec")
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source and not reference:
        spec["dataSourceRef"] = dict(source)
    elif reference and not source and not reference.get("namespace"):
        spec["dataSource"] = {name: value for name, value in reference.items() if name != "namespace"}


def event(obj: Object) -> None:
    """Read an Event of v1beta1 as one of v1, which the server converts to the stored form."""
    obj["apiVersion"] = "events.k8s.io/v1"
