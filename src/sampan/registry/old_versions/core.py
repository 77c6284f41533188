"""What core objects did not say yet in older servers, in the same version v1.

Source: pkg/registry/core/service/storage/storage.go, pkg/registry/core/persistentvolumeclaim/strategy.go (1.36).
"""

from ipaddress import ip_address

from sampan.core.object import Object
from sampan.registry.old_versions.parts import member

_HAVE_ADDRESSES = ("ClusterIP", "NodePort", "LoadBalancer")


def service(obj: Object, primary_family: str) -> None:
    """Before 1.20 a Service had one address, and families were not told. Without an address it is of the cluster's."""
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
    """Before 1.22 a claim had one field for what it is filled from."""
    spec = member(obj, "spec")
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source and not reference:
        spec["dataSourceRef"] = dict(source)
    elif reference and not source and not reference.get("namespace"):
        spec["dataSource"] = {name: value for name, value in reference.items() if name != "namespace"}
