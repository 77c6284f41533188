"""Tables of who may do what: RBAC, certificates, admission, flow control, API services."""

from collections.abc import Mapping
from typing import Any

from sampan.core.object import Object
from sampan.core.time import human_duration
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, NAME, NONE, UNSET, Cell, at, column, count, integer
from sampan.registry.columns.tables import Tables

_RBAC = "rbac.authorization.k8s.io"
_ADMISSION = "admissionregistration.k8s.io"
_FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"


def _subjects(kind: str) -> Cell:
    def cell(binding: Object) -> str:
        return ", ".join(
            f"{subject.get('namespace', '')}/{subject['name']}" if kind == "ServiceAccount" else subject["name"]
            for subject in binding.get("subjects", ())
            if subject["kind"] == kind
        )

    return cell


def _role(binding: Object) -> str:
    return f"{binding['roleRef']['kind']}/{binding['roleRef']['name']}"


def _requested_duration(request: Object) -> str:
    seconds = request.get("spec", EMPTY).get("expirationSeconds")
    return NONE if seconds is None else human_duration(seconds)


def _request_condition(request: Object) -> str:
    status = request.get("status", EMPTY)
    kinds = {condition["type"] for condition in status.get("conditions", ())}
    text = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    if "Failed" in kinds:
        text += ",Failed"
    return f"{text},Issued" if status.get("certificate") else text


def _pod_request_state(request: Object) -> str:
    state = "Pending"
    for condition in request.get("status", EMPTY).get("conditions", ()):
        if condition["type"] in ("Issued", "Denied", "Failed"):
            state = condition["type"]
    return state


def _param_kind(policy: Object) -> str:
    kind = policy.get("spec", EMPTY).get("paramKind")
    return UNSET if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


def _go_requirement(requirement: Mapping[str, Any]) -> str:
    values = " ".join(requirement.get("values", ()))
    return (
        f"LabelSelectorRequirement{{Key:{requirement['key']},Operator:{requirement['operator']},Values:[{values}],}},"
    )


def _go_selector(selector: Mapping[str, Any]) -> str:
    """A label selector as Go prints the struct: that is what Kubernetes shows here."""
    labels = "".join(f"{key}: {value}," for key, value in sorted(selector.get("matchLabels", EMPTY).items()))
    expressions = "".join(map(_go_requirement, selector.get("matchExpressions", ())))
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _param_ref(binding: Object) -> str:
    reference = binding.get("spec", EMPTY).get("paramRef", EMPTY)
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return _go_selector(reference["selector"]) if "selector" in reference else UNSET


def _missing_priority_level(schema: Object) -> str:
    for condition in schema.get("status", EMPTY).get("conditions", ()):
        if condition.get("type") == "Dangling":
            return str(condition.get("status", ""))
    return "?"


def _queuing(field: str) -> Cell:
    response = at("spec", "limited", "limitResponse", default=EMPTY)

    def cell(level: Object) -> Any:
        queuing = response(level).get("queuing")
        return NONE if queuing is None else queuing.get(field, 0)

    return cell


def _shares(level: Object) -> Any:
    limited = level.get("spec", EMPTY).get("limited")
    return NONE if limited is None else limited.get("nominalConcurrencyShares", 0)


def _api_service_target(service: Object) -> str:
    target = service.get("spec", EMPTY).get("service")
    return "Local" if target is None else f"{target.get('namespace', '')}/{target.get('name', '')}"


def _api_service_available(service: Object) -> str:
    for condition in service.get("status", EMPTY).get("conditions", ()):
        if condition["type"] == "Available":
            status, reason = condition["status"], condition.get("reason")
            return f"{status} ({reason})" if reason and status != "True" else str(status)
    return "Unknown"


def access_tables(ages: Ages) -> Tables:
    """Tables of RBAC, certificates and API services."""
    age = ages.column
    binding = (
        NAME,
        column("Role", _role),
        age,
        column("Users", _subjects("User"), wide=True),
        column("Groups", _subjects("Group"), wide=True),
        column("ServiceAccounts", _subjects("ServiceAccount"), wide=True),
    )
    signer = column("SignerName", at("spec", "signerName", default=NONE))
    bundle = (NAME, signer)
    return {
        (_RBAC, "rolebindings", "v1"): binding,
        (_RBAC, "clusterrolebindings", "v1"): binding,
        ("certificates.k8s.io", "certificatesigningrequests", "v1"): (
            NAME,
            age,
            signer,
            column("Requestor", at("spec", "username")),
            column("RequestedDuration", _requested_duration),
            column("Condition", _request_condition),
        ),
        ("certificates.k8s.io", "clustertrustbundles", "v1alpha1"): bundle,
        ("certificates.k8s.io", "clustertrustbundles", "v1beta1"): bundle,
        ("certificates.k8s.io", "podcertificaterequests", "v1beta1"): (
            NAME,
            column("PodName", at("spec", "podName")),
            column("ServiceAccountName", at("spec", "serviceAccountName")),
            column("NodeName", at("spec", "nodeName")),
            column("SignerName", at("spec", "signerName")),
            column("State", _pod_request_state),
        ),
        ("apiregistration.k8s.io", "apiservices", "v1"): (
            NAME,
            column("Service", _api_service_target),
            column("Available", _api_service_available),
            age,
        ),
    } | _admission_tables(ages)


def _admission_tables(ages: Ages) -> Tables:
    age = ages.column
    webhooks = (NAME, integer("Webhooks", count("webhooks")), age)
    binding = (NAME, column("PolicyName", at("spec", "policyName")), column("ParamRef", _param_ref), age)
    param_kind = column("ParamKind", _param_kind)
    return {
        (_ADMISSION, "mutatingwebhookconfigurations", "v1"): webhooks,
        (_ADMISSION, "validatingwebhookconfigurations", "v1"): webhooks,
        (_ADMISSION, "validatingadmissionpolicies", "v1"): (
            NAME,
            integer("Validations", count("spec", "validations")),
            param_kind,
            age,
        ),
        (_ADMISSION, "mutatingadmissionpolicies", "v1"): (
            NAME,
            integer("Mutations", count("spec", "mutations")),
            param_kind,
            age,
        ),
        (_ADMISSION, "validatingadmissionpolicybindings", "v1"): binding,
        (_ADMISSION, "mutatingadmissionpolicybindings", "v1"): binding,
        (_FLOW_CONTROL, "flowschemas", "v1"): (
            NAME,
            column("PriorityLevel", at("spec", "priorityLevelConfiguration", "name")),
            column("MatchingPrecedence", at("spec", "matchingPrecedence", default=0)),
            column("DistinguisherMethod", at("spec", "distinguisherMethod", "type", default=NONE)),
            age,
            column("MissingPL", _missing_priority_level),
        ),
        (_FLOW_CONTROL, "prioritylevelconfigurations", "v1"): (
            NAME,
            column("Type", at("spec", "type")),
            column("NominalConcurrencyShares", _shares),
            column("Queues", _queuing("queues")),
            column("HandSize", _queuing("handSize")),
            column("QueueLengthLimit", _queuing("queueLengthLimit")),
            age,
        ),
    }
