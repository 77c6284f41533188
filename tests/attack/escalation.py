"""Class b: users try to get more than they have been given. Each entry must be refused, or must change nothing."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.attack.attempts import PATCHES
from tests.attack.model import RBAC, Grant, grant
from tests.attack.report import Count
from tests.attack.server import Attacked, give
from tests.attack.wire import Client, Reply
from tests.server.smallest import certificate_request

JSON_PATCH, MERGE, STRATEGIC = (content_type for content_type, _ in PATCHES)
APPLY = "application/apply-patch+yaml"
GROUP = "rbac.authorization.k8s.io"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
CERTIFICATES = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
POD = "/api/v1/namespaces/mine/pods/one"
CSR = "CertificateSigningRequest"
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Escalation:
    """A request that must be refused. `user`: a number, or the name of a node."""

    name: str
    method: str
    target: str
    body: Any = field(default_factory=dict)
    content_type: str = "application/json"
    user: int | str = 0
    headers: Mapping[str, str] = field(default_factory=dict)


def writes(
    name: str, collection: str, made: Mapping[str, Any], change: Mapping[str, Any], user: int
) -> list[Escalation]:
    """Return each way to create an object, and each way to change the object `held` that the user may write."""
    new, held = f"{collection}/{made['metadata']['name']}", f"{collection}/held"
    operations = [{"op": "add", "path": f"/{key}", "value": value} for key, value in change.items()]
    renamed = {**made, "metadata": {**made["metadata"], "name": "held"}}
    return [
        Escalation(f"{name}: POST", "POST", collection, made, user=user),
        Escalation(f"{name}: dry run", "POST", f"{collection}?dryRun=All", made, user=user),
        Escalation(f"{name}: generated", "POST", collection, {**made, "metadata": {"generateName": "g-"}}, user=user),
        Escalation(f"{name}: PUT that creates", "PUT", new, made, user=user),
        Escalation(f"{name}: apply that creates", "PATCH", f"{new}?fieldManager=a", made, APPLY, user),
        Escalation(f"{name}: PUT", "PUT", held, renamed, user=user),
        Escalation(f"{name}: merge patch", "PATCH", held, change, MERGE, user),
        Escalation(f"{name}: strategic patch", "PATCH", held, change, STRATEGIC, user),
        Escalation(f"{name}: JSON patch", "PATCH", held, operations, JSON_PATCH, user),
        Escalation(f"{name}: apply", "PATCH", f"{held}?fieldManager=a&force=true", renamed, APPLY, user),
        Escalation(f"{name}: old version", "POST", collection.replace("/v1/", "/v1beta1/"), made, user=user),
    ]


def _role(kind: str, rules: Sequence[Any], **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": "new"}, "rules": rules, **fields}


def _binding(kind: str, role: str, role_kind: str = "ClusterRole", **ref: str) -> dict[str, Any]:
    subject = {"kind": "User", "name": "u0", "apiGroup": GROUP}
    found = {"kind": role_kind, "name": role, "apiGroup": GROUP, **ref}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": kind,
        "metadata": {"name": "new"},
        "subjects": [subject],
        "roleRef": found,
    }


ROLES = grant("create get update patch delete list", GROUP, "clusterroles clusterrolebindings roles rolebindings")
NARROW = (
    grant("get", "", "configmaps", names="one"),
    grant("get", "apps", "*/scale"),
    grant("get", "", "pods/log"),
    grant("list", "", "pods"),
)
"""Rights of user 0 next to the right to write roles."""
GROWN: tuple[dict[str, Any], ...] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"]},
    {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["one", "two"]},
    {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": [""]},
    {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["one"]},
    {"verbs": ["get"], "apiGroups": ["", "apps"], "resources": ["*/scale"]},
    {"verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments"]},
    {"verbs": ["get"], "apiGroups": [""], "resources": ["pods/*"]},
    {"verbs": ["get"], "apiGroups": [""], "resources": ["*/log"]},
    {"verbs": ["list"], "apiGroups": ["*"], "resources": ["pods"]},
    {"verbs": ["*"], "apiGroups": [""], "resources": ["pods"]},
    {"verbs": ["escalate", "bind"], "apiGroups": [GROUP], "resources": ["clusterroles"]},
    {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"]},
    {"verbs": ["get"], "nonResourceURLs": ["*"]},
    {"verbs": ["get"], "nonResourceURLs": ["/metrics"]},
    {"verbs": ["get"], "nonResourceURLs": ["/api*"]},
)


def role_escalations() -> list[Escalation]:
    """Return grants of rights that user 0 does not hold."""
    found = []
    for index, rule in enumerate(GROWN):
        for kind, collection in (
            ("ClusterRole", f"{RBAC}/clusterroles"),
            ("Role", f"{RBAC}/namespaces/mine/roles"),
        ):
            if kind == "ClusterRole" or "nonResourceURLs" not in rule:
                rules = [rule]
                found += writes(f"{kind} {index}", collection, _role(kind, rules), {"rules": rules}, 0)
    selectors = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    found += writes("aggregation", f"{RBAC}/clusterroles", _role("ClusterRole", [], **selectors), selectors, 0)
    return [*found, *_bindings()]


def _bindings() -> list[Escalation]:
    found = []
    everywhere, here = f"{RBAC}/clusterrolebindings", f"{RBAC}/namespaces/mine/rolebindings"
    for role in ("cluster-admin", "admin", "view", "system:node", "absent"):
        for kind, where in (("ClusterRoleBinding", everywhere), ("RoleBinding", here)):
            made = _binding(kind, role)
            found += writes(f"{kind} to {role}", where, made, {"roleRef": made["roleRef"]}, 0)
    for ref in ({"apiGroup": ""}, {"apiGroup": "x"}, {"role_kind": "clusterrole"}, {"apiGroup": GROUP.upper()}):
        made = _binding("RoleBinding", "view", **ref)
        found.append(Escalation(f"odd reference {ref}", "POST", here, made))
    return found


def _certificate(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "theirs"}, **fields}


def certificate_escalations() -> list[Escalation]:
    """User 1 writes requests, approvals and status, but has no right on any signer."""
    condition = {"type": "Approved", "status": "True", "reason": "a", "message": "b"}
    approved = {"status": {"conditions": [condition]}}
    signed = {"status": {"certificate": base64.b64encode(b"x").decode()}}
    denied = {"status": {"conditions": [{**condition, "type": "Denied"}]}}
    found = []
    for name, below, change in (
        ("approve", "approval", approved),
        ("deny", "approval", denied),
        ("sign", "status", signed),
        ("fail", "status", {"status": {"conditions": [{**condition, "type": "Failed"}]}}),
    ):
        target = f"{CERTIFICATES}/theirs/{below}"
        applied = {
            "apiVersion": "certificates.k8s.io/v1",
            "kind": "CertificateSigningRequest",
            **_certificate(**change),
        }
        found += [
            Escalation(f"{name}: merge patch", "PATCH", target, change, MERGE, 1),
            Escalation(f"{name}: strategic patch", "PATCH", target, change, STRATEGIC, 1),
            Escalation(f"{name}: apply", "PATCH", f"{target}?fieldManager=a", applied, APPLY, 1),
            Escalation(
                f"{name}: JSON patch",
                "PATCH",
                target,
                [{"op": "add", "path": "/status", "value": change["status"]}],
                JSON_PATCH,
                1,
            ),
        ]
    return found


def policy_escalations() -> list[Escalation]:
    """User 2 writes admission policies and bindings, but may not read what they take as parameters."""
    found = []
    for kind, plural in (
        ("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
        ("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
    ):
        rules = [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
        spec: dict[str, Any] = {
            "paramKind": {"apiVersion": "v1", "kind": "Secret"},
            "matchConstraints": {"resourceRules": rules},
            "failurePolicy": "Ignore",
        }
        spec |= (
            {"validations": [{"expression": "params.data.size() == 0"}]}
            if kind.startswith("V")
            else {
                "reinvocationPolicy": "Never",
                "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}],
            }
        )
        head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "new"}}
        found += writes(kind, f"{ADMISSION}/{plural}", {**head, "spec": spec}, {"spec": spec}, 2)
        found += _policy_bindings(kind, plural)
    return found


def _policy_bindings(kind: str, plural: str) -> list[Escalation]:
    found: list[Escalation] = []
    refs: tuple[dict[str, Any], ...] = ({"name": "one"}, {"name": "one", "namespace": "theirs"}, {"selector": {}})
    for policy in ("params", "absent"):
        for ref in refs:
            spec: dict[str, Any] = {"policyName": policy, "paramRef": {**ref, "parameterNotFoundAction": "Allow"}}
            spec |= {"validationActions": ["Audit"]} if kind.startswith("V") else {}
            head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}Binding"}
            made = {**head, "metadata": {"name": "new"}, "spec": spec}
            where = f"{ADMISSION}/{plural[:-3]}ybindings"
            found += writes(f"{kind}Binding {policy} {ref}", where, made, {"spec": spec}, 2)
    return found


def pod_escalations() -> list[Escalation]:
    """User 3 may write subresources of Pods in one namespace, and tokens of one account."""
    tokens = "/api/v1/namespaces/mine/serviceaccounts"
    bound = {"kind": "Pod", "apiVersion": "v1", "name": "one"}
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction"}
    target = {"kind": "Node", "name": "n1"}
    return [
        Escalation("token of another account", "POST", f"{tokens}/other/token", {"spec": {}}, user=3),
        Escalation("token, other name", "POST", f"{tokens}/held/token", {**request, "metadata": {"name": "o"}}, user=3),
        Escalation(
            "token, other namespace",
            "POST",
            f"{tokens}/held/token",
            {**request, "metadata": {"name": "held", "namespace": "theirs"}},
            user=3,
        ),
        Escalation(
            "token bound to a Pod of another account",
            "POST",
            f"{tokens}/held/token",
            {**request, "spec": {"boundObjectRef": bound}},
            user=3,
        ),
        Escalation(
            "token for ever", "POST", f"{tokens}/held/token", {**request, "spec": {"expirationSeconds": 2**40}}, user=3
        ),
        Escalation(
            "eviction, other name", "POST", f"{POD}/eviction", {**eviction, "metadata": {"name": "two"}}, user=3
        ),
        Escalation(
            "eviction, other namespace",
            "POST",
            f"{POD}/eviction",
            {**eviction, "metadata": {"name": "one", "namespace": "theirs"}},
            user=3,
        ),
        Escalation(
            "binding, other namespace",
            "POST",
            "/api/v1/namespaces/mine/bindings",
            {"metadata": {"name": "one", "namespace": "theirs"}, "target": target},
            user=3,
        ),
        Escalation(
            "binding, other name", "POST", f"{POD}/binding", {"metadata": {"name": "two"}, "target": target}, user=3
        ),
        Escalation(
            "image by ephemeral containers",
            "PATCH",
            f"{POD}/ephemeralcontainers",
            {"spec": {"ephemeralContainers": [{"name": "c", "image": "i"}]}},
            STRATEGIC,
            3,
        ),
        Escalation("local review of another namespace", "POST", REVIEW, REVIEWED, user=3),
    ]


REVIEW = "/apis/authorization.k8s.io/v1/namespaces/mine/localsubjectaccessreviews"
REVIEWED = {
    "metadata": {"namespace": "mine"},
    "spec": {"user": "u0", "resourceAttributes": {"namespace": "theirs", "verb": "get", "resource": "pods"}},
}


def node_escalations() -> list[Escalation]:
    """Node n1 tries to act on other nodes and their Pods. Pod `one` of both namespaces is on n1, `other` on n2."""
    pods, n2 = "/api/v1/namespaces/mine/pods", "/api/v1/nodes/n2"
    mirror = {"kubernetes.io/config.mirror": "a"}
    owner = [{"apiVersion": "v1", "kind": "Node", "name": "n2", "uid": "x", "controller": True}]
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n1"}
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    restricted = {"metadata": {"labels": {"node-restriction.kubernetes.io/a": "b"}}}
    taken = {"metadata": {"ownerReferences": owner}}
    cases: list[tuple[str, str, str, Any, str]] = [
        ("status of another node", "PATCH", f"{n2}/status", {"status": {"phase": "x"}}, MERGE),
        ("labels of another node", "PATCH", n2, {"metadata": {"labels": {"a": "b"}}}, MERGE),
        ("another node", "DELETE", n2, {}, MERGE),
        ("restricted label", "PATCH", "/api/v1/nodes/n1", restricted, MERGE),
        ("restricted label by status", "PATCH", "/api/v1/nodes/n1/status", restricted, MERGE),
        ("restricted label by strategic patch", "PATCH", "/api/v1/nodes/n1", restricted, STRATEGIC),
        ("taints", "PATCH", "/api/v1/nodes/n1", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}, MERGE),
        ("owner of its node", "PATCH", "/api/v1/nodes/n1", taken, MERGE),
        ("role label", "PATCH", "/api/v1/nodes/n1", {"metadata": {"labels": {"kubernetes.io/role": "m"}}}, MERGE),
        ("Pod that is no mirror", "POST", pods, {"metadata": {"name": "new"}, "spec": spec}, ""),
        (
            "mirror on another node",
            "POST",
            pods,
            {"metadata": {"name": "new", "annotations": mirror}, "spec": {**spec, "nodeName": "n2"}},
            "",
        ),
        (
            "mirror with a Secret",
            "POST",
            pods,
            {
                "metadata": {"name": "new", "annotations": mirror},
                "spec": {**spec, "volumes": [{"name": "v", "secret": {"secretName": "one"}}]},
            },
            "",
        ),
        (
            "mirror with an account",
            "POST",
            pods,
            {"metadata": {"name": "new", "annotations": mirror}, "spec": {**spec, "serviceAccountName": "held"}},
            "",
        ),
        ("Pod of another node", "DELETE", f"{pods}/other", {}, ""),
        ("status of another node's Pod", "PATCH", f"{pods}/other/status", {"status": {"phase": "Failed"}}, MERGE),
        ("eviction of another node's Pod", "POST", f"{pods}/other/eviction", {"metadata": {"name": "other"}}, ""),
        ("labels of its Pod by status", "PATCH", f"{pods}/one/status", {"metadata": {"labels": {"a": "b"}}}, MERGE),
        ("Pod spec", "PATCH", f"{pods}/one", {"metadata": {"labels": {"a": "b"}}}, MERGE),
        ("all Secrets", "GET", "/api/v1/secrets", b"", ""),
        ("Secret that no Pod of it has", "GET", "/api/v1/namespaces/mine/secrets/one", b"", ""),
        ("named Secret by a list", "GET", f"{SECRETS}?fieldSelector=metadata.name%3Done", b"", ""),
        ("ConfigMap that no Pod of it has", "GET", "/api/v1/namespaces/mine/configmaps/one", b"", ""),
        ("lease of another node", "POST", leases, {"metadata": {"name": "n2"}, "spec": {}}, ""),
        ("lease elsewhere", "POST", leases.replace("kube-node-lease", "mine"), {"metadata": {"name": "n1"}}, ""),
        ("CSINode of another", "POST", "/apis/storage.k8s.io/v1/csinodes", {"metadata": {"name": "n2"}}, ""),
        ("unbound token", "POST", "/api/v1/namespaces/mine/serviceaccounts/held/token", {"spec": {}}, ""),
        ("all Pods", "GET", "/api/v1/pods", b"", ""),
        ("Pods of another node", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2", b"", ""),
        ("another node's Pod", "GET", f"{pods}/other", b"", ""),
        ("other nodes", "GET", "/api/v1/nodes", b"", ""),
        ("proxy to another node", "GET", f"{n2}/proxy/", b"", ""),
        ("join as another", "POST", "/api/v1/nodes", {"metadata": {"name": "n3"}}, ""),
    ]
    return [
        Escalation(f"node: {name}", method, target, body, content_type or "application/json", "n1")
        for name, method, target, body, content_type in cases
    ]


SECRETS = "/api/v1/namespaces/mine/secrets"


def impersonations() -> list[Escalation]:
    """User 4 may impersonate user u5 and group `devs`, and no others; user 3 none."""
    target = "/api/v1/namespaces/kube-system/secrets"
    everything = {"Impersonate-User": "admin", "Impersonate-Group": "system:masters"}
    tried: list[dict[str, str]] = [
        everything,
        {"Impersonate-User": "u5", "Impersonate-Group": "system:masters"},
        {"Impersonate-User": "u5", "Impersonate-Uid": "1"},
        {"Impersonate-User": "u5", "Impersonate-Extra-scopes": "a"},
        {"Impersonate-User": "system:node:n1"},
        {"Impersonate-User": "system:serviceaccount:kube-system:default"},
        {"Impersonate-User": "u5,admin"},
        {"Impersonate-Group": "devs"},
        {"Impersonate-Uid": "1"},
        {"Impersonate-User": "", "Impersonate-Group": "system:masters"},
        {"X-Remote-User": "admin", "X-Remote-Group": "system:masters"},
        {"IMPERSONATE-USER": "admin", "impersonate-group": "system:masters"},
        {"Impersonate_User": "admin", "Impersonate_Group": "system:masters"},
        {"Sec-WebSocket-Protocol": "base64url.bearer.authorization.k8s.io.YWRtaW4, a", "Upgrade": "websocket"},
    ]
    return [
        Escalation(f"headers {sorted(headers)}", "GET", target, b"", user=user, headers=headers)
        for headers in tried
        for user in (3, 4)
    ]


GRANTS: dict[int, list[Grant]] = {
    0: [ROLES, *NARROW],
    1: [
        grant("*", "certificates.k8s.io", "certificatesigningrequests"),
        grant("*", "certificates.k8s.io", "certificatesigningrequests/approval certificatesigningrequests/status"),
    ],
    2: [grant("*", "admissionregistration.k8s.io", "*")],
    3: [
        grant("create", "", "serviceaccounts/token", "mine", "held"),
        grant("*", "", "pods/eviction pods/binding bindings pods/ephemeralcontainers pods/resize", "mine"),
        grant("create", "authorization.k8s.io", "localsubjectaccessreviews", "mine"),
    ],
    4: [grant("impersonate", "", "users", names="u5"), grant("impersonate", "", "groups", names="devs")],
    5: [],
}


def escalations() -> list[Escalation]:
    """Return all of them."""
    return [
        *role_escalations(),
        *certificate_escalations(),
        *policy_escalations(),
        *pod_escalations(),
        *node_escalations(),
        *impersonations(),
    ]


async def set_up(admin: Client) -> None:
    """Create what the users hold and what they attack."""
    for path, made in _objects():
        reply = await admin.request("POST", path, made)
        if reply.status not in (201, 409):
            raise RuntimeError(f"{path}: {reply.message}")


def _objects() -> list[tuple[str, dict[str, Any]]]:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    held = [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}]
    ref = {"kind": "ClusterRole", "name": "held", "apiGroup": GROUP}
    policies: list[tuple[str, dict[str, Any]]] = [
        (f"{ADMISSION}/{plural}", {"metadata": {"name": "held"}, "spec": spec_})
        for plural, spec_ in (
            ("validatingadmissionpolicies", _harmless(True)),
            ("mutatingadmissionpolicies", _harmless(False)),
        )
    ]
    for kind, spec_ in (("validating", _harmless(True)), ("mutating", _harmless(False))):
        params = {**spec_, "paramKind": {"apiVersion": "v1", "kind": "Secret"}}
        policies.append((f"{ADMISSION}/{kind}admissionpolicies", {"metadata": {"name": "params"}, "spec": params}))
        actions = {"validationActions": ["Audit"]} if kind == "validating" else {}
        held_binding = {"metadata": {"name": "held"}, "spec": {"policyName": "held", **actions}}
        policies.append((f"{ADMISSION}/{kind}admissionpolicybindings", held_binding))
    return [
        *((("/api/v1/nodes"), {"metadata": {"name": name}}) for name in ("n1", "n2")),
        ("/api/v1/namespaces/mine/serviceaccounts", {"metadata": {"name": "held"}}),
        ("/api/v1/namespaces/mine/serviceaccounts", {"metadata": {"name": "other"}}),
        ("/api/v1/namespaces/mine/pods", {"metadata": {"name": "other"}, "spec": {**spec, "nodeName": "n2"}}),
        (f"{RBAC}/clusterroles", {"metadata": {"name": "held"}, "rules": held}),
        (f"{RBAC}/namespaces/mine/roles", {"metadata": {"name": "held"}, "rules": held}),
        (f"{RBAC}/clusterrolebindings", {"metadata": {"name": "held"}, "subjects": [], "roleRef": ref}),
        (f"{RBAC}/namespaces/mine/rolebindings", {"metadata": {"name": "held"}, "subjects": [], "roleRef": ref}),
        (CERTIFICATES, _certificate(spec=_request())),
        *policies,
    ]


def _harmless(validating: bool) -> dict[str, Any]:
    rules = [{"operations": ["*"], "apiGroups": ["x"], "apiVersions": ["v1"], "resources": ["y"]}]
    found: dict[str, Any] = {"matchConstraints": {"resourceRules": rules}}
    if validating:
        return {**found, "validations": [{"expression": "true"}]}
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
    return {**found, "reinvocationPolicy": "Never", "mutations": [mutation]}


def _request() -> dict[str, Any]:
    return {
        "request": certificate_request(),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
    }


def judge(escalation: Escalation, reply: Reply) -> str:
    """Return what is wrong with a reply."""
    if 400 <= reply.status < 500:
        return ""
    return f"{escalation.method} {escalation.target} answered {reply.status}: {reply.body[:300]!r}"


async def escalate(attacked: Attacked, step: int = 1) -> Count:
    """Try all of them, or with `step` one of so many."""
    count = Count("b: escalation")
    async with attacked.admin() as admin:
        await set_up(admin)
    await give(attacked, GRANTS)
    for each in escalations()[::step]:
        client = attacked.node(each.user) if isinstance(each.user, str) else attacked.user(each.user)
        async with client:
            body = each.body if isinstance(each.body, bytes) else json.dumps(each.body).encode()
            reply = await client.request(each.method, each.target, body, each.content_type, each.headers)
            count.note(each.name, True, judge(each, reply))
    return count
