"""Fields that Go's types get from an embedded type: Go's decoder names that type in the path of an invalid value.

Source: k8s.io/api types.go of the groups, apimachinery third_party json decode.go (1.36).
"""


def inlined_in(struct: str, field: str) -> tuple[str, ...]:
    """Return the embedded types from which a struct gets the field, outermost first."""
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
"""Embedded types of each struct, and the fields that come from them, or (if True) the fields that do not."""
