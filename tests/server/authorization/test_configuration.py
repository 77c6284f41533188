"""AuthorizationConfiguration: validation and error messages."""

from typing import Any

import orjson
import pytest

from sampan.server.authorization.webhook.conditions import ConditionCompiler
from sampan.server.authorization.webhook.configuration import configuration_faults, parse_configuration

HEAD = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}


def webhook(**more: Any) -> dict[str, Any]:
    """A webhook that is right, but for `more`."""
    sent = {
        "timeout": "3s",
        "subjectAccessReviewVersion": "v1",
        "matchConditionSubjectAccessReviewVersion": "v1",
        "failurePolicy": "Deny",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": __file__},
        "matchConditions": [{"expression": "request.user != 'x'"}],
    }
    return {"type": "Webhook", "name": "w", "webhook": {**sent, **more}}


def faults(*authorizers: dict[str, Any]) -> list[str]:
    """Return the faults of a file."""
    text = orjson.dumps({**HEAD, "authorizers": list(authorizers)})
    return [str(fault) for fault in configuration_faults(parse_configuration(text), ConditionCompiler())]


def test_a_valid_configuration_has_no_faults() -> None:
    assert faults({"type": "Node", "name": "node"}, webhook(), {"type": "RBAC", "name": "rbac"}) == []


def test_times_have_defaults() -> None:
    text = orjson.dumps({**HEAD, "authorizers": [webhook()]})
    part = parse_configuration(text).authorizers[0].webhook
    assert part is not None
    assert (part.authorized_ttl_ns, part.unauthorized_ttl_ns, part.timeout_ns) == (300 * 10**9, 30 * 10**9, 3 * 10**9)


AT = "authorizers[0]"
FAULTS = [
    pytest.param([], ["authorizers: Required value: at least one authorization mode must be defined"], id="none"),
    pytest.param([{"name": "x"}], [f"{AT}.type: Required value"], id="no type"),
    pytest.param(
        [{"type": "Magic", "name": "x"}],
        [
            f'{AT}.type: Unsupported value: "Magic": supported values: '
            '"ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"'
        ],
        id="unknown type",
    ),
    pytest.param(
        [{"type": "RBAC", "name": "a"}, {"type": "RBAC", "name": "b"}],
        ['authorizers[1].type: Duplicate value: "RBAC"'],
        id="twice",
    ),
    pytest.param([{"type": "RBAC"}], [f"{AT}.name: Required value"], id="no name"),
    pytest.param(
        [{"type": "RBAC", "name": "a", "webhook": {}}],
        [f'{AT}.webhook: Invalid value: "non-null": may only be specified when type=Webhook'],
        id="webhook of another type",
    ),
    pytest.param(
        [{"type": "Webhook", "name": "a"}],
        [f"{AT}.webhook: Required value: required when type=Webhook"],
        id="webhook that is none",
    ),
    pytest.param([webhook(timeout="")], [f"{AT}.timeout: Required value"], id="no timeout"),
    pytest.param(
        [webhook(timeout="31s")], [f'{AT}.timeout: Invalid value: "31s": must be > 0s and <= 30s'], id="long timeout"
    ),
    pytest.param(
        [webhook(authorizedTTL="-1s")], [f'{AT}.authorizedTTL: Invalid value: "-1s": must be > 0s'], id="negative time"
    ),
    pytest.param(
        [webhook(failurePolicy="Ignore")],
        [f'{AT}.failurePolicy: Unsupported value: "Ignore": supported values: "NoOpinion", "Deny"'],
        id="failure policy",
    ),
    pytest.param(
        [webhook(matchConditionSubjectAccessReviewVersion="")],
        [f"{AT}.matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified"],
        id="no version of conditions",
    ),
    pytest.param(
        [webhook(connectionInfo={"type": "KubeConfigFile", "kubeConfigFile": "here"})],
        [f'{AT}.connectionInfo.kubeConfigFile: Invalid value: "here": must be an absolute path'],
        id="relative file",
    ),
    pytest.param(
        [webhook(connectionInfo={"type": "InClusterConfig", "kubeConfigFile": "/x"})],
        [f'{AT}.connectionInfo.kubeConfigFile: Invalid value: "/x": can only be set when type=KubeConfigFile'],
        id="file in the cluster",
    ),
    pytest.param(
        [webhook(matchConditions=[{"expression": "1 + 1"}, {"expression": " "}])],
        [
            f'{AT}.matchConditions[0].expression: Invalid value: "1 + 1": must evaluate to bool but got int',
            f"{AT}.matchConditions[1].expression: Required value",
        ],
        id="conditions",
    ),
]


@pytest.mark.parametrize(("authorizers", "expected"), FAULTS)
def test_faults_name_their_field(authorizers: list[dict[str, Any]], expected: list[str]) -> None:
    assert faults(*authorizers) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"{", "", id="no YAML"),
        pytest.param(b"kind: Pod\napiVersion: v1", 'no kind "Pod" is registered for version "v1"', id="another kind"),
        pytest.param(
            orjson.dumps({**HEAD, "authorizers": [{"typo": "x"}]}),
            'strict decoding error: unknown field "authorizers[0].typo"',
            id="unknown field",
        ),
        pytest.param(
            orjson.dumps({**HEAD, "authorizers": [webhook(timeout="soon")]}),
            'time: invalid duration "soon"',
            id="no duration",
        ),
    ],
)
def test_unreadable_text_is_refused(text: bytes, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_configuration(text)
    assert message in str(caught.value)
