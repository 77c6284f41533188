"""The small plug-ins for other objects, and the names by which plug-ins are turned on."""

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.server.admission.order import NAMES, ORDER
from sampan.server.admission.settings import OFF, AdmissionSettings, check_names
from sampan.server.apiserver import ApiServer, ApiServerSettings
from sampan.storage.memory import MemoryStore
from tests.server.admission.objects import refused
from tests.server.cluster import Api, served
from tests.server.frame import JANE

_NS = "/api/v1/namespaces/default"
_CLAIMS = f"{_NS}/persistentvolumeclaims"
_REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"


def _claim(storage: str = "1Gi", **spec: Any) -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, **spec}
    return {"metadata": {"name": "c"}, "spec": spec}


async def _storage_class(api: Api, name: str, *, default: bool = False, expands: bool = False) -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    obj = {"metadata": {"name": name, "annotations": annotations}, "provisioner": "x", "allowVolumeExpansion": expands}
    await api.create("/apis/storage.k8s.io/v1/storageclasses", obj)


async def test_a_claim_gets_the_default_class_and_its_finalizer(api: Api) -> None:
    await _storage_class(api, "slow")
    await _storage_class(api, "fast", default=True)
    made = await api.create(_CLAIMS, _claim())
    assert made["spec"]["storageClassName"] == "fast"
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]


async def test_an_attributes_class_gets_its_finalizer(api: Api) -> None:
    obj = {"metadata": {"name": "gold"}, "driverName": "d", "parameters": {"a": "b"}}
    made = await api.create("/apis/storage.k8s.io/v1/volumeattributesclasses", obj)
    assert made["metadata"]["finalizers"] == ["kubernetes.io/vac-protection"]


@pytest.mark.parametrize("name", ["", "slow"])
async def test_a_claim_that_names_a_class_keeps_it(api: Api, name: str) -> None:
    await _storage_class(api, "fast", default=True)
    assert (await api.create(_CLAIMS, _claim(storageClassName=name)))["spec"]["storageClassName"] == name


async def test_an_ingress_gets_the_default_class(api: Api) -> None:
    annotations = {"ingressclass.kubernetes.io/is-default-class": "true"}
    obj = {"metadata": {"name": "nginx", "annotations": annotations}, "spec": {"controller": "a/b"}}
    await api.create("/apis/networking.k8s.io/v1/ingressclasses", obj)
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    ingress = {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}}
    made = await api.create("/apis/networking.k8s.io/v1/namespaces/default/ingresses", ingress)
    assert made["spec"]["ingressClassName"] == "nginx"


_FIXED = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


@pytest.mark.parametrize(("expands", "text"), [(True, ""), (False, _FIXED)])
async def test_claims_grow_where_their_class_allows_it(api: Api, expands: bool, text: str) -> None:
    await _storage_class(api, "s", expands=expands)
    await api.create(_CLAIMS, _claim(storageClassName="s", volumeName="v"))
    await api.patch(f"{_CLAIMS}/c/status", {"status": {"phase": "Bound"}})
    response = await api.patch(f"{_CLAIMS}/c", {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    if text:
        assert (response.code, response.message) == (403, f'persistentvolumeclaims "c" is forbidden: {text}')
    else:
        assert response.code == 200, response.body


async def test_external_addresses_may_be_denied() -> None:
    async with served(admission=AdmissionSettings(enabled=frozenset({"DenyServiceExternalIPs"}))) as api:
        service = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1}], "externalIPs": ["1.2.3.4"]}}
        text = 'services "s" is forbidden: Use of external IPs is denied by admission control'
        assert await refused(api, f"{_NS}/services", service) == text
        del service["spec"]["externalIPs"]  # type: ignore[attr-defined]  # the spec is a dict
        await api.create(f"{_NS}/services", service)


async def test_a_namespace_may_be_made_on_the_way() -> None:
    async with served(admission=AdmissionSettings(enabled=frozenset({"NamespaceAutoProvision"}))) as api:
        await api.create("/api/v1/namespaces/new/configmaps", {"metadata": {"name": "c"}})
        assert (await api.get("/api/v1/namespaces/new")).code == 200
        text = await refused(api, "/api/v1/namespaces/Bad_1/configmaps", {"metadata": {"name": "c"}})
        assert text.startswith(
            'configmaps "c" is forbidden: Namespace "Bad_1" is invalid: metadata.name: Invalid value: '
        )


async def test_everything_may_be_denied() -> None:
    async with served(admission=AdmissionSettings(enabled=frozenset({"AlwaysDeny"}))) as api:
        text = 'configmaps "c" is forbidden: admission control is denying all modifications'
        assert await refused(api, f"{_NS}/configmaps", {"metadata": {"name": "c"}}) == text


_LIMITS = {"apiVersion": "eventratelimit.admission.k8s.io/v1alpha1", "kind": "Configuration"}


async def test_a_flood_of_events_is_stopped() -> None:
    configuration = {**_LIMITS, "limits": [{"type": "Namespace", "qps": 1, "burst": 2}]}
    settings = AdmissionSettings(
        enabled=frozenset({"EventRateLimit"}), configurations={"EventRateLimit": configuration}
    )
    async with served(admission=settings) as api:
        codes = []
        for number in range(3):
            about = {"kind": "Pod", "namespace": "default", "name": "p"}
            event = {"metadata": {"name": f"e-{number}"}, "involvedObject": about}
            response = await api.post(f"{_NS}/events", event)
            codes.append(response.code)
        assert codes == [201, 201, 429]
        assert response.message == "Too many requests: limit reached on type Namespace for key default"
        assert "details" not in response.body


def _request(organization: str) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    names = [
        x509.NameAttribute(NameOID.COMMON_NAME, "jane"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization),
    ]
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(names)).sign(key, hashes.SHA256())
    return base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


def _csr(organization: str = "devs") -> Object:
    spec = {"request": _request(organization), "signerName": "kubernetes.io/kube-apiserver-client"}
    return {"metadata": {"name": "r"}, "spec": {**spec, "usages": ["client auth"]}}


async def test_no_client_becomes_a_master_by_certificate(api: Api) -> None:
    assert await refused(api, _REQUESTS, _csr("system:masters")) == (
        'certificatesigningrequests.certificates.k8s.io "r" is forbidden: use of kubernetes.io/kube-apiserver-client '
        "signer with system:masters group is not allowed"
    )


async def _jane_may(api: Api, *rules: Object) -> Api:
    await api.create(f"{_RBAC}/clusterroles", {"metadata": {"name": "jane"}, "rules": list(rules)})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "jane"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}
    binding = {"metadata": {"name": "jane"}, "roleRef": reference, "subjects": [subject]}
    await api.create(f"{_RBAC}/clusterrolebindings", binding)
    return Api(api.server, JANE)


_CERTIFICATES = "certificates.k8s.io"
_WRITES = {
    "apiGroups": [_CERTIFICATES],
    "resources": ["certificatesigningrequests/approval", "certificatesigningrequests/status"],
    "verbs": ["update", "patch"],
}


@pytest.mark.parametrize(
    ("verb", "names", "subresource", "allowed"),
    [
        ("approve", ["kubernetes.io/kube-apiserver-client"], "approval", True),
        ("approve", ["kubernetes.io/*"], "approval", True),
        ("approve", ["other.io/*"], "approval", False),
        ("sign", ["kubernetes.io/kube-apiserver-client"], "status", True),
        ("approve", ["kubernetes.io/*"], "status", False),
    ],
)
async def test_approving_and_signing_need_a_right_on_the_signer(
    api: Api, verb: str, names: list[str], subresource: str, allowed: bool
) -> None:
    signers = {"apiGroups": [_CERTIFICATES], "resources": ["signers"], "resourceNames": names, "verbs": [verb]}
    jane = await _jane_may(api, _WRITES, signers)
    await api.create(_REQUESTS, _csr())
    kind = "Approved" if subresource == "approval" else "Failed"
    condition = {"type": kind, "status": "True", "reason": "R", "message": "m"}
    response = await jane.patch(f"{_REQUESTS}/r/{subresource}", {"status": {"conditions": [condition]}})
    if allowed:
        assert response.code == 200, response.body
        return
    done = "approve" if subresource == "approval" else "sign"
    assert response.message == (
        f'certificatesigningrequests.certificates.k8s.io "r" is forbidden: user not permitted to {done} requests with '
        'signerName "kubernetes.io/kube-apiserver-client"'
    )


async def test_an_owner_can_be_blocked_by_users_with_the_right_to_update_its_finalizers() -> None:
    settings = AdmissionSettings(enabled=frozenset({"OwnerReferencesPermissionEnforcement"}))
    async with served(admission=settings) as api:
        jane = await _jane_may(api, {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "patch"]})
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "u"}
        obj = {"metadata": {"name": "c", "ownerReferences": [{**owner, "blockOwnerDeletion": True}]}}
        message = await refused(jane, f"{_NS}/configmaps", obj)
        text = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: "
        assert message.startswith(f'configmaps "c" is forbidden: {text}')
        await jane.create(f"{_NS}/configmaps", {"metadata": {"name": "c", "ownerReferences": [owner]}})
        response = await jane.patch(f"{_NS}/configmaps/c", {"metadata": {"ownerReferences": None}})
        assert "cannot set an ownerRef on a resource you can't delete" in response.message


def test_plugins_run_in_the_order_of_kubernetes() -> None:
    names = [name for name, _ in ORDER]
    assert names.index("NamespaceLifecycle") < names.index("LimitRanger") < names.index("PodSecurity")
    assert names[-2:] == ["ResourceQuota", "AlwaysDeny"]
    assert len(names) == len(NAMES)
    assert OFF < NAMES


def _server(settings: AdmissionSettings) -> ApiServer:
    return ApiServer(Cluster(MemoryStore()), [], settings=ApiServerSettings(admission=settings))


async def test_plugins_are_turned_on_and_off_by_name() -> None:
    settings = AdmissionSettings(frozenset({"AlwaysPullImages"}), frozenset({"LimitRanger"}))
    names = {plugin.name for plugin in _server(settings).admission.plugins}
    assert "AlwaysPullImages" in names
    assert "LimitRanger" not in names
    assert "Priority" in names


@pytest.mark.parametrize(
    ("enabled", "disabled", "text"),
    [
        ({"Bad"}, set(), 'enable-admission-plugins plugin "Bad" is unknown'),
        (set(), {"Bad"}, 'disable-admission-plugins plugin "Bad" is unknown'),
        (
            {"Priority"},
            {"Priority"},
            "[Priority] in enable-admission-plugins and disable-admission-plugins overlapped",
        ),
    ],
)
def test_names_are_checked(enabled: set[str], disabled: set[str], text: str) -> None:
    with pytest.raises(ValueError, match=r"plugin") as caught:
        check_names(frozenset(enabled), frozenset(disabled), NAMES)
    assert str(caught.value) == text


@pytest.mark.parametrize(("metadata", "name"), [({"name": "c"}, "c"), ({"generateName": "c-"}, "c-")], ids=str)
async def test_nothing_is_made_in_a_namespace_that_is_going(api: Api, metadata: Object, name: str) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "going"}})
    await api.delete("/api/v1/namespaces/going")
    text = "unable to create new content in namespace going because it is being terminated"
    assert await refused(api, "/api/v1/namespaces/going/configmaps", {"metadata": metadata}) == (
        f'configmaps "{name}" is forbidden: {text}'
    )


async def test_an_update_needs_the_namespace_and_a_deletion_does_not(api: Api) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "going"}})
    path = "/api/v1/namespaces/going/configmaps"
    for name in ("c", "d"):
        await api.create(path, {"metadata": {"name": name}})
    ending = (await api.delete("/api/v1/namespaces/going")).body
    assert (await api.patch(f"{path}/c", {"data": {"a": "b"}})).code == 200
    ending["spec"] = {"finalizers": []}
    assert (await api.put("/api/v1/namespaces/going/finalize", ending)).code == 200
    changed = await api.patch(f"{path}/c", {"data": {"a": "c"}})
    assert (changed.code, changed.message) == (404, 'namespaces "going" not found')
    applied = await api.apply(f"{path}/d", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "c"}})
    assert applied.code == 404
    assert (await api.delete(f"{path}/c")).code == 200
