"""Namespaces, with their quotas and limits, and ServiceAccounts."""

from collections.abc import Callable, Iterator
from typing import Final

from sampan.cli.objects.describers.describer import (
    DescribedObject,
    Describer,
    DescriptionRow,
    RelatedObjects,
    at,
    labelled,
    rows,
)
from sampan.cli.objects.describers.values import ANNOTATIONS, LABELS, NAME, NAMESPACE, conditions
from sampan.client import ListOptions
from sampan.core.numbers.quantity import canonical
from sampan.resource import Object

_ACCOUNT_NAME: Final = "kubernetes.io/service-account.name"
_ACCOUNT_UID: Final = "kubernetes.io/service-account.uid"
_CONDITION: Final = ("Type", "Status", "LastTransitionTime", "Reason", "Message")
_LIMITS: Final = ("min", "max", "defaultRequest", "default", "maxLimitRequestRatio")


def _quotas(subject: DescribedObject) -> Iterator[str]:
    quotas = subject.related.get("quotas")
    if quotas is None:
        return
    yield from ("", "Resource Quotas" if quotas else "No resource quota.")
    for quota in sorted(quotas, key=lambda each: str(each["metadata"]["name"])):
        yield f"  Name:\t{quota['metadata']['name']}"
        scopes = at(quota, "spec.scopes")
        if scopes:
            yield f"  Scopes:\t{', '.join(sorted(scopes))}"
        yield "  Resource\tUsed\tHard"
        yield "  --------\t---\t---"
        used = at(quota, "status.used") or {}
        for name, hard in sorted((at(quota, "status.hard") or {}).items()):
            yield f"  {name}\t{canonical(used.get(name, 0))}\t{canonical(hard)}"


def _limits(subject: DescribedObject) -> Iterator[str]:
    ranges = subject.related.get("limits")
    if ranges is None:
        return
    yield ""
    if not ranges:
        yield from ("No LimitRange resource.", "")
        return
    yield "Resource Limits"
    yield " Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio"
    yield " ----\t--------\t---\t---\t---------------\t-------------\t-----------------------"
    for each in ranges:
        for limit in at(each, "spec.limits") or ():
            for name in sorted({name for field in _LIMITS for name in limit.get(field) or ()}):
                cells = [str((limit.get(field) or {}).get(name, "-")) for field in _LIMITS]
                yield "\t".join([f" {limit['type']}", name, *cells])
    yield ""


def _inside(resource: str) -> Callable[[Object], RelatedObjects]:
    return lambda namespace: RelatedObjects(resource, namespace["metadata"]["name"])


def _secret_names(path: str) -> Callable[[Object], list[str]]:
    return lambda account: [each.get("name", "") for each in at(account, path) or ()]


def _tokens(subject: DescribedObject) -> Iterator[str]:
    secrets = subject.related.get("secrets")
    if secrets is None:
        return
    metadata = subject.obj["metadata"]
    names = []
    for secret in secrets:
        annotations = at(secret, "metadata.annotations") or {}
        if annotations.get(_ACCOUNT_NAME) == metadata["name"] and annotations.get(_ACCOUNT_UID) == metadata.get("uid"):
            names.append(secret["metadata"]["name"])
    yield from labelled("Tokens", sorted(names))


def _secrets_query(account: Object) -> RelatedObjects:
    chosen = ListOptions(field_selector="type=kubernetes.io/service-account-token")
    return RelatedObjects("secrets.v1.", account["metadata"]["namespace"], chosen)


NAMESPACE_KIND: Final = Describer(
    (
        rows(NAME, LABELS, ANNOTATIONS, DescriptionRow("Status", "status.phase", default="")),
        conditions(*_CONDITION),
        _quotas,
        _limits,
    ),
    {"quotas": _inside("resourcequotas.v1."), "limits": _inside("limitranges.v1.")},
)

SERVICE_ACCOUNT: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            LABELS,
            ANNOTATIONS,
            DescriptionRow("Image pull secrets", _secret_names("imagePullSecrets")),
            DescriptionRow("Mountable secrets", _secret_names("secrets")),
        ),
        _tokens,
    ),
    {"secrets": _secrets_query},
)
