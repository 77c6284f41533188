"""Volume sources that pod volumes and PersistentVolumes share.

Source: pkg/apis/core/validation/validation.go (1.36).
"""

from __future__ import annotations

import re

from sampan.core.field import FieldError, Path, invalid, required, too_long
from sampan.core.validation.domains import domain_prefixed_key_errors
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.kinds import core_v1
from sampan.registry.rules.fields import (
    ANNOTATIONS_BYTES_MAX,
    check_label_selector,
    check_local_descending,
    check_no_backsteps,
    check_required,
    not_supported,
)
from sampan.registry.rules.signers import check_signer_name, trust_bundle_name_errors
from sampan.registry.rules.table import all_of, number, one_of, requires, within

Errors = list[FieldError]
ISCSI_NAME_TOO_LONG = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
    "if iscsi.initiatorName is specified."
)
_HOST_PATH_TYPES = frozenset(
    {"", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"}
)
_IQN = re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9\-.]+)(:[^,;*&$|\s]+)\Z").search
_EUI = re.compile(r"eui.[A-Za-z0-9]{16}").fullmatch
_NAA = re.compile(r"naa.[A-Za-z0-9]{32}").fullmatch
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_UINT8 = "must be between 0 and 255, inclusive"
_DAY_S = 24 * 3600

_PARTITION = number("partition", 0, 255, "must be between 1 and 255, inclusive")
_SECRET = within("secretRef", requires("name"))
check_gce_disk = all_of(requires("pdName"), _PARTITION)
check_aws_disk = all_of(requires("volumeID"), _PARTITION)
check_glusterfs = requires("endpoints", "path")
check_rbd = requires("monitors", "image")
check_cinder = all_of(requires("volumeID"), _SECRET)
check_cephfs = requires("monitors")
_AZURE_DISK = all_of(
    requires("diskName", "diskURI"),
    one_of("cachingMode", {"None", "ReadOnly", "ReadWrite"}),
    one_of("kind", {"Shared", "Dedicated", "Managed"}),
)
check_azure_file = requires("secretName", "shareName")
check_vsphere = requires("volumePath")
check_photon = requires("pdID")
check_portworx = requires("volumeID")
check_scale_io = requires("gateway", "system", "volumeName")


def check_host_path(source: core_v1.HostPathVolumeSource, path: Path, errors: Errors) -> None:
    """Check a path on the node."""
    if not source.get("path"):
        errors.append(required(path.child("path")))
        return
    check_no_backsteps(source["path"], path.child("path"), errors)
    kind = source.get("type", "")
    if kind not in _HOST_PATH_TYPES:
        errors.append(not_supported(path.child("type"), kind, _HOST_PATH_TYPES))


def check_git_repo(source: core_v1.GitRepoVolumeSource, path: Path, errors: Errors) -> None:
    """Check a git repository."""
    check_required(source, ("repository",), path, errors)
    check_local_descending(source.get("directory", ""), path.child("directory"), errors)


def check_nfs(source: core_v1.NFSVolumeSource, path: Path, errors: Errors) -> None:
    """Check an NFS export."""
    check_required(source, ("server", "path"), path, errors)
    if not source.get("path", "").startswith("/"):
        errors.append(invalid(path.child("path"), source.get("path", ""), "must be an absolute path"))


def _iscsi_name_problem(name: str) -> str:
    for prefix, matches in (("iqn", _IQN), ("eui", _EUI), ("naa", _NAA)):
        if name.startswith(prefix):
            return "" if matches(name) else "must be valid format"
    return "must be valid format starting with iqn, eui, or naa"


def check_iscsi(
    source: core_v1.ISCSIVolumeSource | core_v1.ISCSIPersistentVolumeSource,
    path: Path,
    errors: Errors,
    *,
    persistent: bool = False,
) -> None:
    """Check an iSCSI target."""
    check_required(source, ("targetPortal",), path, errors)
    iqn = source.get("iqn", "")
    if not iqn:
        errors.append(required(path.child("iqn")))
    elif problem := _iscsi_name_problem(iqn):
        errors.append(invalid(path.child("iqn"), iqn, "must be valid format" if persistent else problem))
    lun = source.get("lun", 0)
    if not 0 <= lun <= 255:
        errors.append(invalid(path.child("lun"), lun, _UINT8))
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and source.get("secretRef") is None:
        errors.append(required(path.child("secretRef")))
    if persistent and source.get("secretRef") is not None and not source["secretRef"].get("name"):
        errors.append(required(path.child("secretRef", "name")))
    initiator = source.get("initiatorName")
    if initiator is not None and (problem := _iscsi_name_problem(initiator)):
        text = "must be valid format" if persistent else problem
        errors.append(invalid(path.child("initiatorname"), initiator, text))


def check_flocker(source: core_v1.FlockerVolumeSource, path: Path, errors: Errors) -> None:
    """Check a Flocker data set."""
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not uuid:
        errors.append(required(path, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        text = "datasetName and datasetUUID can not be specified simultaneously"
        errors.append(invalid(path, "resource", text))
    if "/" in name:
        errors.append(invalid(path.child("datasetName"), name, "must not contain '/'"))


def check_quobyte(source: core_v1.QuobyteVolumeSource, path: Path, errors: Errors) -> None:
    """Check a Quobyte volume."""
    registry = source.get("registry", "")
    pairs = "must be a host:port pair or multiple pairs separated by commas"
    if not registry:
        errors.append(required(path.child("registry"), pairs))
    elif len(source.get("tenant", "")) >= 65:
        text = "must be a UUID and may not exceed a length of 64 characters"
        errors.append(required(path.child("tenant"), text))
    else:
        for pair in registry.split(","):
            host, colon, port = pair.rpartition(":")
            if not colon or "]" in port or (":" in host and not (host.startswith("[") and host.endswith("]"))):
                errors.append(invalid(path.child("registry"), registry, pairs))
    check_required(source, ("volume",), path, errors)


def check_fc(source: core_v1.FCVolumeSource, path: Path, errors: Errors) -> None:
    """Check a Fibre Channel disk."""
    targets, wwids = source.get("targetWWNs"), source.get("wwids")
    at = path.child("targetWWNs")
    if not targets and not wwids:
        errors.append(required(at, "must specify either targetWWNs or wwids, but not both"))
    if targets and wwids:
        errors.append(invalid(at, targets, "targetWWNs and wwids can not be specified simultaneously"))
    if targets:
        lun = source.get("lun")
        if lun is None:
            errors.append(required(path.child("lun"), "lun is required if targetWWNs is specified"))
        elif not 0 <= lun <= 255:
            errors.append(invalid(path.child("lun"), lun, _UINT8))


def check_flex(
    source: core_v1.FlexVolumeSource | core_v1.FlexPersistentVolumeSource, path: Path, errors: Errors
) -> None:
    """Check a volume of an exec-based driver."""
    check_required(source, ("driver",), path, errors)
    for key in source.get("options") or {}:
        domain = f".{key.partition('/')[0].lower()}"
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            text = "kubernetes.io and k8s.io namespaces are reserved"
            errors.append(invalid(path.child("options").key(key), key, text))


def check_azure_disk(source: core_v1.AzureDiskVolumeSource, path: Path, errors: Errors) -> None:
    """Append the errors of an Azure disk. The form of its URI depends on its kind."""
    _AZURE_DISK(source, path, errors)
    kind, uri = source.get("kind"), source.get("diskURI", "")
    managed = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
    blob = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        errors.append(not_supported(path.child("diskURI"), uri, (managed,)))
    if kind is not None and kind != "Managed" and not uri.startswith("https://"):
        errors.append(not_supported(path.child("diskURI"), uri, (blob,)))


def check_storage_os(
    source: core_v1.StorageOSVolumeSource | core_v1.StorageOSPersistentVolumeSource, path: Path, errors: Errors
) -> None:
    """Check a StorageOS volume."""
    name, namespace = source.get("volumeName", ""), source.get("volumeNamespace", "")
    check_required(source, ("volumeName",), path, errors)
    for text in dns1123_label_errors(name) if name else ():
        errors.append(invalid(path.child("volumeName"), name, text))
    for text in dns1123_label_errors(namespace) if namespace else ():
        errors.append(invalid(path.child("volumeNamespace"), namespace, text))
    _SECRET(source, path, errors)


def check_csi_driver_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a CSI driver: a subdomain in any case, of at most 63 bytes."""
    if not name:
        errors.append(required(path))
        return
    if len(name) > 63:
        errors.append(too_long(path, "", 63))
    errors.extend(invalid(path, name, text) for text in dns1123_subdomain_errors(name.lower()))


def check_csi(source: core_v1.CSIVolumeSource, path: Path, errors: Errors) -> None:
    """Check an inline volume of a CSI driver."""
    check_csi_driver_name(source.get("driver", ""), path.child("driver"), errors)
    secret = source.get("nodePublishSecretRef")
    if secret is None:
        return
    name = secret.get("name", "")
    if not name:
        errors.append(required(path.child("nodePublishSecretRef", "name")))
    else:
        errors.extend(invalid(path.child("name"), name, text) for text in dns1123_subdomain_errors(name))


def check_trust_bundle(source: core_v1.ClusterTrustBundleProjection, path: Path, errors: Errors) -> None:
    """Check a projection of ClusterTrustBundles, by name or by signer."""
    name, signer, selector = source.get("name"), source.get("signerName"), source.get("labelSelector")
    if name is not None and signer is not None:
        errors.append(invalid(path, source, "only one of name and signerName may be used"))
    elif name is not None:
        if not name:
            errors.append(required(path.child("name"), "must be a valid object name"))
        for text in trust_bundle_name_errors(name):
            errors.append(invalid(path.child("name"), name, f"not a valid clustertrustbundlename: {text}"))
        if selector is not None:
            text = "labelSelector must be unset if name is specified"
            errors.append(invalid(path.child("labelSelector"), selector, text))
    elif signer is not None:
        if not signer:
            errors.append(required(path.child("signerName"), "must be a valid signer name"))
        check_signer_name(signer, path.child("signerName"), errors)
        check_label_selector(selector, path.child("labelSelector"), errors)
    else:
        errors.append(required(path, "either name or signerName must be specified"))


def check_pod_certificate(source: core_v1.PodCertificateProjection, path: Path, errors: Errors) -> None:
    """Check a projection of a certificate that is issued for the pod."""
    signer = source.get("signerName", "")
    check_signer_name(signer, path.child("signerName"), errors)
    annotations = source.get("userAnnotations") or {}
    for key in annotations:
        errors.extend(domain_prefixed_key_errors(path.child("userAnnotations"), key.lower()))
    if sum(len(k.encode()) + len(v.encode()) for k, v in annotations.items()) > ANNOTATIONS_BYTES_MAX:
        errors.append(too_long(path.child("userAnnotations"), "", ANNOTATIONS_BYTES_MAX))
    if source.get("keyType", "") not in _KEY_TYPES:
        errors.append(not_supported(path.child("keyType"), source.get("keyType", ""), _KEY_TYPES))
    seconds = source.get("maxExpirationSeconds")
    if seconds is None:
        return
    at = path.child("maxExpirationSeconds")
    if seconds < 3600:
        errors.append(invalid(at, seconds, "if provided, maxExpirationSeconds must be >= 3600"))
    longest = _DAY_S if signer.partition("/")[0].endswith("kubernetes.io") else 91 * _DAY_S
    if seconds > longest:
        errors.append(invalid(at, seconds, f"if provided, maxExpirationSeconds must be <= {longest}"))
