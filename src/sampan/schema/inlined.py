"""Which fields Go's types take over from an embedded type: Go's decoder names that type in the path of a wrong value.

Source: k8s.io/api types.go of the groups, apimachinery third_party json decode.go (1.36).
"""


def inlined_in(struct: str, field: str) -> tuple[str, ...]:
    """The embedded types through which a struct has the field, outermost first."""
    if struct == "NamedRuleWithOperations" and field == "operations":
        return ("RuleWithOperations",)
    names, all_but, fields = _EMBEDDED.get(struct, _NONE)
    return names if (field not in fields) is all_but else ()


_NONE: tuple[tuple[str, ...], bool, frozenset[str]] = ((), False, frozenset())
_REFERENCE = (("LocalObjectReference",), False, frozenset({"name"}))
_CONFIGURATION = (("DeviceConfiguration",), False, frozenset({"opaque"}))
_EMBEDDED = {
    "Volume": (("VolumeSource",), True, frozenset({"name"})),
    "PersistentVolumeSpec": (
        ("PersistentVolumeSource",),
        True,
        frozenset(
            {
                "accessModes",
                "capacity",
                "claimRef",
                "mountOptions",
                "nodeAffinity",
                "persistentVolumeReclaimPolicy",
                "storageClassName",
                "volumeAttributesClassName",
                "volumeMode",
            }
        ),
    ),
    "EphemeralContainer": (("EphemeralContainerCommon",), True, frozenset({"targetContainerName"})),
    "Probe": (("ProbeHandler",), False, frozenset({"exec", "grpc", "httpGet", "tcpSocket"})),
    "ConfigMapEnvSource": _REFERENCE,
    "ConfigMapKeySelector": _REFERENCE,
    "ConfigMapProjection": _REFERENCE,
    "ConfigMapVolumeSource": _REFERENCE,
    "SecretEnvSource": _REFERENCE,
    "SecretKeySelector": _REFERENCE,
    "SecretProjection": _REFERENCE,
    "IngressRule": (("IngressRuleValue",), False, frozenset({"http"})),
    "DeviceAllocationConfiguration": _CONFIGURATION,
    "DeviceClaimConfiguration": _CONFIGURATION,
    "DeviceClassConfiguration": _CONFIGURATION,
    "RuleWithOperations": (("Rule",), True, frozenset({"operations"})),
    "NamedRuleWithOperations": (("RuleWithOperations", "Rule"), True, frozenset({"operations", "resourceNames"})),
}
"""The embedded types of a struct, and its fields that are theirs, or (True) all but which."""
