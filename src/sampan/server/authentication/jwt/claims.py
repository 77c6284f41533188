"""Mapping of the verified claims of a token to a user, by the rules of the issuer.

Source: apiserver plugin/pkg/authenticator/token/oidc/oidc.go (1.36).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sampan.core.go_text import unmarshal_text
from sampan.server.authentication.authenticator import TokenError
from sampan.server.authentication.client_certificate import CREDENTIAL_ID
from sampan.server.authentication.jwt.expressions import evaluate_claims, evaluate_user, texts_of
from sampan.server.authentication.jwt.validation import CompiledIssuer, TokenValidationRule
from sampan.server.authentication.service_account.user import credential_id_of
from sampan.server.request import UserInfo

Claims = Mapping[str, Any]


def user_of(issuer: CompiledIssuer, claims: Claims) -> UserInfo:
    """Return the user. Raises `TokenError` if a claim is missing or a validation rule is not met."""
    user = UserInfo(_username(issuer, claims), _uid(issuer, claims), _groups(issuer, claims), _extra(issuer, claims))
    _check_required(issuer, claims)
    with _evaluating("claim validation expression"):
        _check(issuer.claim_rules, [evaluate_claims(rule.program, claims) for rule in issuer.claim_rules])
    with _evaluating("user info validation rule"):
        _check(issuer.user_rules, [evaluate_user(rule.program, user) for rule in issuer.user_rules])
    return user


def _username(issuer: CompiledIssuer, claims: Claims) -> str:
    if issuer.username is not None:
        with _evaluating("username claim expression"):
            name = evaluate_claims(issuer.username, claims)
            if not isinstance(name, str):
                raise TokenError("username claim expression must return a string")
        if not name:
            raise TokenError("oidc: empty username via CEL expression is not allowed")
        return name
    mapping = issuer.spec.claim_mappings.username
    name = _text(claims, mapping.claim, f'oidc: parse username claims "{mapping.claim}"')
    if mapping.claim == "email" and not _value(
        claims.get("email_verified", True), bool, "oidc: parse 'email_verified' claim"
    ):
        raise TokenError("oidc: email not verified")
    return (mapping.prefix or "") + name


def _groups(issuer: CompiledIssuer, claims: Claims) -> tuple[str, ...]:
    mapping = issuer.spec.claim_mappings.groups
    if issuer.groups is not None:
        with _evaluating("group claim expression"):
            return texts_of(evaluate_claims(issuer.groups, claims))
    if not mapping.claim or mapping.claim not in claims:
        return ()
    found = claims[mapping.claim]
    if found is None:
        return ()
    if not isinstance(found, list) or not all(group is None or isinstance(group, str) for group in found):
        found = [_value(found, str, f'oidc: parse groups claim "{mapping.claim}"')]
    return tuple(f"{mapping.prefix or ''}{group or ''}" for group in found)


def _uid(issuer: CompiledIssuer, claims: Claims) -> str:
    claim = issuer.spec.claim_mappings.uid.claim
    if claim:
        return _text(claims, claim, f'oidc: parse uid claim "{claim}"')
    if issuer.uid is None:
        return ""
    with _evaluating("uid claim expression"):
        uid = evaluate_claims(issuer.uid, claims)
        if not isinstance(uid, str):
            raise TokenError("uid claim expression must return a string")
        return uid


def _extra(issuer: CompiledIssuer, claims: Claims) -> dict[str, tuple[str, ...]]:
    extra: dict[str, tuple[str, ...]] = {}
    jti = claims.get("jti")
    if isinstance(jti, str) and jti:
        extra[CREDENTIAL_ID] = (credential_id_of(jti),)
    found = {key: evaluate_claims(program, claims) for key, program in issuer.extra.items()}
    for key, value in found.items():
        with _evaluating(f"extra claim expression: {issuer.extra[key].expression}"):
            values = texts_of(value)
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


def _check(rules: Iterable[TokenValidationRule], values: Iterable[Any]) -> None:
    for rule, value in zip(rules, values, strict=True):
        if value is not True:
            raise TokenError(f"validation expression '{rule.program.expression}' failed: {rule.message}")


@contextmanager
def _evaluating(what: str) -> Iterator[None]:
    try:
        yield
    except TokenError as error:
        raise TokenError(f"oidc: error evaluating {what}: {error}") from None


def _text(claims: Claims, name: str, what: str) -> str:
    if name not in claims:
        raise TokenError(f"{what}: claim not present")
    return str(_value(claims[name], str, what))


def _value(found: Any, kind: type[str | bool], what: str) -> str | bool:
    """Return a claim that must be a string or a boolean. Null counts as the empty value."""
    if found is None:
        return kind()
    if isinstance(found, kind):
        return found
    go_type = "string" if kind is str else "bool"
    raise TokenError(f"{what}: {unmarshal_text(found, go_type)}")
