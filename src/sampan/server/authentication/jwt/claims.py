"""From the claims of a token whose signature is good to a user, by an issuer's rules.

Source: apiserver plugin/pkg/authenticator/token/oidc/oidc.go (1.36).
"""

from collections.abc import Mapping
from typing import Any

from sampan.server.authentication.authenticator import TokenError
from sampan.server.authentication.client_certificate import CREDENTIAL_ID
from sampan.server.authentication.jwt.expressions import evaluate_claims, evaluate_user, texts_of
from sampan.server.authentication.jwt.validation import CompiledIssuer, Rule
from sampan.server.authentication.service_account.user import credential_id_of
from sampan.server.request import UserInfo

Claims = Mapping[str, Any]


def user_of(issuer: CompiledIssuer, claims: Claims) -> UserInfo:
    """The user. Raises `TokenError` where a claim is missing or a rule does not hold."""
    user = UserInfo(_username(issuer, claims), _uid(issuer, claims), _groups(issuer, claims), _extra(issuer, claims))
    _check_required(issuer, claims)
    for rule in issuer.claim_rules:
        _check(rule, evaluate_claims(rule.program, claims), "claim validation expression")
    for rule in issuer.user_rules:
        _check(rule, evaluate_user(rule.program, user), "user info validation rule")
    return user


def _username(issuer: CompiledIssuer, claims: Claims) -> str:
    if issuer.username is not None:
        name = evaluate_claims(issuer.username, claims)
        if not isinstance(name, str):
            text = "username claim expression must return a string"
            raise TokenError(f"oidc: error evaluating username claim expression: {text}")
        if not name:
            raise TokenError("oidc: empty username via CEL expression is not allowed")
        return name
    mapping = issuer.spec.claim_mappings.username
    name = _text(claims, mapping.claim, f'oidc: parse username claims "{mapping.claim}"')
    if mapping.claim == "email" and "email_verified" in claims:
        verified = claims["email_verified"]
        if not isinstance(verified, bool):
            raise TokenError("oidc: parse 'email_verified' claim: not a bool")
        if not verified:
            raise TokenError("oidc: email not verified")
    return (mapping.prefix or "") + name


def _groups(issuer: CompiledIssuer, claims: Claims) -> tuple[str, ...]:
    mapping = issuer.spec.claim_mappings.groups
    if issuer.groups is not None:
        return texts_of(evaluate_claims(issuer.groups, claims))
    if not mapping.claim or mapping.claim not in claims:
        return ()
    found = claims[mapping.claim]
    groups = [found] if isinstance(found, str) else found
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise TokenError(f'oidc: parse groups claim "{mapping.claim}": neither a string nor a list of strings')
    return tuple(f"{mapping.prefix or ''}{group}" for group in groups)


def _uid(issuer: CompiledIssuer, claims: Claims) -> str:
    claim = issuer.spec.claim_mappings.uid.claim
    if claim:
        return _text(claims, claim, f'oidc: parse uid claim "{claim}"')
    if issuer.uid is None:
        return ""
    uid = evaluate_claims(issuer.uid, claims)
    if not isinstance(uid, str):
        raise TokenError("oidc: error evaluating uid claim expression: uid claim expression must return a string")
    return uid


def _extra(issuer: CompiledIssuer, claims: Claims) -> dict[str, tuple[str, ...]]:
    extra: dict[str, tuple[str, ...]] = {}
    jti = claims.get("jti")
    if isinstance(jti, str) and jti:
        extra[CREDENTIAL_ID] = (credential_id_of(jti),)
    for key, program in issuer.extra.items():
        values = texts_of(evaluate_claims(program, claims))
        if values:
            extra[key] = values
    return extra


def _check_required(issuer: CompiledIssuer, claims: Claims) -> None:
    for rule in issuer.spec.claim_validation_rules:
        if not rule.claim:
            continue
        if rule.claim not in claims:
            raise TokenError(f"oidc: required claim {rule.claim} not present in ID token")
        value = _text(claims, rule.claim, f"oidc: parse claim {rule.claim}")
        if value != rule.required_value:
            shown = f"Got = {value}, want = {rule.required_value}"
            raise TokenError(f"oidc: required claim {rule.claim} value does not match. {shown}")


def _check(rule: Rule, value: Any, what: str) -> None:
    if value is not True:
        shown = f"validation expression '{rule.program.expression}' failed: {rule.message}"
        raise TokenError(f"oidc: error evaluating {what}: {shown}")


def _text(claims: Claims, name: str, what: str) -> str:
    value = claims.get(name)
    if name not in claims:
        raise TokenError(f"{what}: claim not present")
    if not isinstance(value, str):
        raise TokenError(f"{what}: not a string")
    return value
