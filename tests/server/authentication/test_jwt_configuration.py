"""AuthenticationConfiguration: what is wrong with it, and where."""

from typing import Any

import orjson
import pytest

from sampan.server.authentication.jwt.configuration import parse_configuration
from sampan.server.authentication.jwt.validation import ConfigurationValidator

HEAD = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"}
ISSUER = {"url": "https://issuer", "audiences": ["a"]}
MAPPINGS = {"username": {"claim": "sub", "prefix": ""}}
GOOD = {"issuer": ISSUER, "claimMappings": MAPPINGS}


def one(**parts: Any) -> list[Any]:
    """An issuer that differs from a good one."""
    return [{**GOOD, **parts}]


def of(**fields: Any) -> list[Any]:
    """An issuer whose `issuer` differs."""
    return one(issuer={**ISSUER, **fields})


def mapped(**fields: Any) -> list[Any]:
    """An issuer whose mappings differ."""
    return one(claimMappings={**MAPPINGS, **fields})


def faults(**document: Any) -> list[str]:
    """Return the faults of a configuration."""
    validator = ConfigurationValidator(["https://own"])
    validator.check(parse_configuration(orjson.dumps({**HEAD, **document})))
    return [str(fault) for fault in validator.faults]


def test_a_good_configuration_has_no_faults() -> None:
    assert faults(jwt=[GOOD]) == []


@pytest.mark.parametrize(
    ("jwt", "expected"),
    [
        (of(url=""), "jwt[0].issuer.url: Required value"),
        (of(url="http://issuer"), 'jwt[0].issuer.url: Invalid value: "http://issuer": URL scheme must be https'),
        (of(url="https://u:p@i"), "URL must not contain a username or password"),
        (of(url="https://i?q=1"), "URL must not contain a query"),
        (of(url="https://own"), "URL must not overlap with disallowed issuers: [https://own]"),
        ([GOOD, GOOD], 'jwt[1].issuer.url: Duplicate value: "https://issuer"'),
        (of(discoveryURL="https://issuer/"), "discoveryURL must be different from URL"),
        (of(audiences=[]), "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required"),
        (of(audiences=["a", "b"]), "audienceMatchPolicy must be MatchAny for multiple audiences"),
        (of(audiences=["a", "a"], audienceMatchPolicy="MatchAny"), "jwt[0].issuer.audiences[1]: Duplicate value"),
        (of(certificateAuthority="x"), "jwt[0].issuer.certificateAuthority: Invalid value"),
        (of(egressSelectorType="x"), "egress selector must be either controlplane or cluster"),
        (mapped(username={}), "jwt[0].claimMappings.username: Required value: claim or expression is required"),
        (mapped(username={"claim": "sub"}), "jwt[0].claimMappings.username.prefix: Required value"),
        (mapped(username={"claim": "s", "expression": "'x'"}), "claim and expression can't both be set"),
        (mapped(username={"expression": "claims."}), "jwt[0].claimMappings.username.expression: Invalid value"),
        (mapped(username={"expression": "claims.email"}), "claims.email_verified must be used"),
        (mapped(extra=[{"key": "x", "valueExpression": "'a'"}]), "jwt[0].claimMappings.extra[0].key: Invalid value"),
        (mapped(extra=[{"key": "a.io/X", "valueExpression": "'a'"}]), "must be lowercase"),
        (mapped(extra=[{"key": "a.k8s.io/x", "valueExpression": "'a'"}]), "are reserved for Kubernetes use"),
        (mapped(extra=[{"key": "a.io/x"}]), "jwt[0].claimMappings.extra[0].valueExpression: Required value"),
        (one(claimValidationRules=[{}]), "jwt[0].claimValidationRules[0]: Required value"),
        (one(claimValidationRules=[{"expression": "claims.x"}]), "must evaluate to bool"),
        (one(claimValidationRules=[{"claim": "a", "message": "m"}]), "may not be specified when claim is set"),
        (one(userValidationRules=[{"expression": "user.nothing == ''"}]), "undefined field 'nothing'"),
    ],
    ids=lambda value: value[-40:] if isinstance(value, str) else "",
)
def test_faults_name_their_field(jwt: list[Any], expected: str) -> None:
    found = faults(jwt=jwt)
    assert len(found) == 1, found
    assert expected in found[0]


def test_an_address_may_be_the_name_if_its_verification_is_checked() -> None:
    rule = {"expression": "claims.?email_verified.orValue(true) == true"}
    assert (
        faults(jwt=one(claimMappings={"username": {"expression": "claims.email"}}, claimValidationRules=[rule])) == []
    )


def test_conditions_require_anonymous_requests_to_be_enabled() -> None:
    assert "anonymous.conditions" in faults(anonymous={"enabled": False, "conditions": [{"path": "/livez"}]})[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"kind: Other\napiVersion: v1\n", 'no kind "Other" is registered for version "v1"'),
        (orjson.dumps({**HEAD, "nonsense": 1}), 'strict decoding error: unknown field "nonsense"'),
        (orjson.dumps({**HEAD, "jwt": [{"isuer": {}}]}), 'strict decoding error: unknown field "jwt[0].isuer"'),
        (b"[", "yaml"),
    ],
    ids=["kind", "field", "deep field", "syntax"],
)
def test_unreadable_text_is_reported(text: bytes, expected: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_configuration(text)
    assert expected in str(caught.value)
