"""Validation of an AuthenticationConfiguration, and compilation of its expressions.

Source: apiserver pkg/apis/apiserver/validation/validation.go (1.36).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import SplitResult

from cryptography import x509

from sampan.core.addresses.url import parse_error, split_url
from sampan.core.field import FieldError, Path, duplicate, invalid, required, too_many
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.schema.cel import Program
from sampan.server.authentication.jwt.configuration import (
    AuthenticationConfiguration,
    ClaimMappings,
    ExtraMapping,
    Issuer,
    JwtIssuer,
    PrefixedMapping,
)
from sampan.server.authentication.jwt.expressions import BOOL, CLAIMS, UNBOUND, USER, ExpressionCompiler, uses_claim

ISSUERS_MAX = 64
_MATCH_ANY = "MatchAny"
_BOTH = "claim and expression can't both be set"
_NEITHER = "claim or expression is required"
_EMAIL = (
    "claims.email_verified must be used in claimMappings.username.expression or "
    "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in "
    "claimMappings.username.expression"
)


@dataclass(slots=True)
class TokenValidationRule:
    """Expression that must be true, and the error message if it is not."""

    program: Program
    message: str


@dataclass(slots=True)
class CompiledIssuer:
    """Compiled expressions of one issuer. None where the configuration has a claim or nothing instead."""

    spec: JwtIssuer
    username: Program | None = None
    groups: Program | None = None
    uid: Program | None = None
    extra: dict[str, Program] = field(default_factory=dict)
    claim_rules: list[TokenValidationRule] = field(default_factory=list)
    user_rules: list[TokenValidationRule] = field(default_factory=list)


class ConfigurationValidator:
    """Collects faults of a configuration. JWTs must not have the `disallowed` issuers, which are this server's own."""

    def __init__(self, disallowed: Iterable[str] = ()) -> None:
        self.faults: list[FieldError] = []
        self._disallowed = sorted(set(disallowed))
        self._expressions = ExpressionCompiler()

    def check(self, configuration: AuthenticationConfiguration) -> list[CompiledIssuer]:
        """Compile the issuers' expressions. Faults are appended to `faults`."""
        root = Path("jwt")
        if len(configuration.jwt) > ISSUERS_MAX:
            self.faults.append(too_many(root, len(configuration.jwt), ISSUERS_MAX))
            return []
        issuers: list[CompiledIssuer] = []
        urls: set[str] = set()
        discovery: set[str] = set()
        for index, spec in enumerate(configuration.jwt):
            path = root.index(index)
            issuers.append(self._issuer(spec, path))
            self._unique(spec.issuer.url, urls, path.child("issuer", "url"))
            if spec.issuer.discovery_url:
                self._unique(spec.issuer.discovery_url, discovery, path.child("issuer", "discoveryURL"))
        anonymous = configuration.anonymous
        if anonymous is not None and not anonymous.enabled and anonymous.conditions:
            shown = [{"Path": condition.path} for condition in anonymous.conditions]
            text = "enabled should be set to true when conditions are defined"
            self.faults.append(invalid(Path("anonymous", "conditions"), shown, text))
        return issuers

    def _unique(self, value: str, seen: set[str], path: Path) -> None:
        if value in seen:
            self.faults.append(duplicate(path, value))
        seen.add(value)

    def _issuer(self, spec: JwtIssuer, path: Path) -> CompiledIssuer:
        compiled = CompiledIssuer(spec)
        self._source(spec.issuer, path.child("issuer"))
        self._claim_rules(compiled, path.child("claimValidationRules"))
        self._mappings(compiled, path.child("claimMappings"))
        self._user_rules(compiled, path.child("userValidationRules"))
        return compiled

    # --- the issuer

    def _source(self, issuer: Issuer, path: Path) -> None:
        if not issuer.url:
            self.faults.append(required(path.child("url")))
        else:
            self._url(issuer.url, path.child("url"), self._disallowed)
        if issuer.discovery_url:
            at = path.child("discoveryURL")
            if issuer.url and issuer.url.rstrip("/") == issuer.discovery_url.rstrip("/"):
                self.faults.append(invalid(at, issuer.discovery_url, "discoveryURL must be different from URL"))
            self._url(issuer.discovery_url, at, [])
        self._audiences(issuer, path)
        if issuer.certificate_authority:
            try:
                x509.load_pem_x509_certificates(issuer.certificate_authority.encode())
            except ValueError:
                text = "data does not contain any valid RSA or ECDSA certificates"
                self.faults.append(invalid(path.child("certificateAuthority"), "<omitted>", text))
        if issuer.egress_selector_type not in ("", "controlplane", "cluster"):
            text = "egress selector must be either controlplane or cluster"
            self.faults.append(invalid(path.child("egressSelectorType"), issuer.egress_selector_type, text))

    def _url(self, url: str, path: Path, disallowed: list[str]) -> None:
        if url in disallowed:
            text = f"URL must not overlap with disallowed issuers: [{' '.join(disallowed)}]"
            self.faults.append(invalid(path, url, text))
        try:
            parts = split_url(url)
        except ValueError as error:
            self.faults.append(invalid(path, url, parse_error(url, error)))
            return
        self.faults += [invalid(path, url, text) for text in _url_faults(parts)]

    def _audiences(self, issuer: Issuer, path: Path) -> None:
        at, policy = path.child("audiences"), issuer.audience_match_policy
        if not issuer.audiences:
            self.faults.append(required(at, f"at least one {at} is required"))
            return
        seen: set[str] = set()
        for index, audience in enumerate(issuer.audiences):
            if not audience:
                self.faults.append(required(at.index(index)))
            self._unique(audience, seen, at.index(index))
        policy_path = path.child("audienceMatchPolicy")
        if len(issuer.audiences) > 1 and policy != _MATCH_ANY:
            text = "audienceMatchPolicy must be MatchAny for multiple audiences"
            self.faults.append(invalid(policy_path, policy, text))
        if len(issuer.audiences) == 1 and policy not in ("", _MATCH_ANY):
            text = "audienceMatchPolicy must be empty or MatchAny for single audience"
            self.faults.append(invalid(policy_path, policy, text))

    # --- rules

    def _claim_rules(self, compiled: CompiledIssuer, path: Path) -> None:
        claims: set[str] = set()
        texts: set[str] = set()
        for index, rule in enumerate(compiled.spec.claim_validation_rules):
            at = path.index(index)
            if rule.claim and rule.expression:
                self.faults.append(invalid(at, rule.claim, _BOTH))
            elif rule.claim:
                if rule.message:
                    text = "may not be specified when claim is set"
                    self.faults.append(invalid(at.child("message"), rule.message, text))
                self._unique(rule.claim, claims, at.child("claim"))
            elif rule.expression:
                if rule.required_value:
                    text = "may not be specified when expression is set"
                    self.faults.append(invalid(at.child("requiredValue"), rule.required_value, text))
                program = self._once(rule.expression, texts, CLAIMS, at.child("expression"))
                if program is not None:
                    compiled.claim_rules.append(TokenValidationRule(program, rule.message))
            else:
                self.faults.append(required(at, _NEITHER))

    def _user_rules(self, compiled: CompiledIssuer, path: Path) -> None:
        texts: set[str] = set()
        for index, rule in enumerate(compiled.spec.user_validation_rules):
            at = path.index(index).child("expression")
            if not rule.expression:
                self.faults.append(required(at))
                continue
            program = self._once(rule.expression, texts, USER, at)
            if program is not None:
                compiled.user_rules.append(TokenValidationRule(program, rule.message))

    def _once(self, text: str, seen: set[str], variable: str, path: Path) -> Program | None:
        if text in seen:
            self.faults.append(duplicate(path, text))
            return None
        seen.add(text)
        return self._compile(text, variable, BOOL, path)

    def _compile(self, text: str, variable: str, result: str, path: Path) -> Program | None:
        made = self._expressions.compile(text, variable, result, path)
        if isinstance(made, FieldError):
            self.faults.append(made)
            return None
        return made

    # --- mappings

    def _mappings(self, compiled: CompiledIssuer, path: Path) -> None:
        mappings = compiled.spec.claim_mappings
        compiled.username = self._prefixed(mappings.username, path.child("username"), is_required=True)
        compiled.groups = self._prefixed(mappings.groups, path.child("groups"), is_required=False)
        if mappings.uid.claim and mappings.uid.expression:
            self.faults.append(invalid(path.child("uid"), "", _BOTH))
        elif mappings.uid.expression:
            at = path.child("uid", "expression")
            compiled.uid = self._compile(mappings.uid.expression, CLAIMS, UNBOUND, at)
        keys: set[str] = set()
        for index, mapping in enumerate(mappings.extra):
            self._extra(compiled, mapping, keys, path.child("extra").index(index))
        self._email(compiled, mappings, path)

    def _prefixed(self, mapping: PrefixedMapping, path: Path, *, is_required: bool) -> Program | None:
        if mapping.expression and mapping.claim:
            self.faults.append(invalid(path, "", _BOTH))
        elif mapping.expression:
            if mapping.prefix is not None:
                text = "may not be specified when expression is set"
                self.faults.append(invalid(path.child("prefix"), mapping.prefix, text))
            return self._compile(mapping.expression, CLAIMS, UNBOUND, path.child("expression"))
        elif mapping.claim:
            if mapping.prefix is None:
                text = "prefix is required when claim is set. It can be set to an empty string to disable prefixing"
                self.faults.append(required(path.child("prefix"), text))
        elif is_required:
            self.faults.append(required(path, _NEITHER))
        return None

    def _extra(self, compiled: CompiledIssuer, mapping: ExtraMapping, keys: set[str], path: Path) -> None:
        key, at = mapping.key, path.child("key")
        self.faults += _key_faults(key, at)
        if key in keys:
            self.faults.append(duplicate(at, key))
            return
        keys.add(key)
        value_path = path.child("valueExpression")
        if not mapping.value_expression:
            self.faults.append(required(value_path))
            return
        program = self._compile(mapping.value_expression, CLAIMS, UNBOUND, value_path)
        if program is not None:
            compiled.extra[key] = program

    def _email(self, compiled: CompiledIssuer, mappings: ClaimMappings, path: Path) -> None:
        """Require a check of `email_verified` if the address is used as the user name."""
        username = compiled.username
        if username is None or not uses_claim(username, "email"):
            return
        programs = [username, *compiled.extra.values(), *(rule.program for rule in compiled.claim_rules)]
        if not any(uses_claim(program, "email_verified") for program in programs):
            at = path.child("username", "expression")
            self.faults.append(invalid(at, mappings.username.expression, _EMAIL))


def _url_faults(parts: SplitResult) -> list[str]:
    faults = []
    if parts.scheme != "https":
        faults.append("URL scheme must be https")
    if "@" in parts.netloc:
        faults.append("URL must not contain a username or password")
    if parts.query:
        faults.append("URL must not contain a query")
    if parts.fragment:
        faults.append("URL must not contain a fragment")
    return faults


def _key_faults(key: str, path: Path) -> list[FieldError]:
    faults = []
    domain, slash, rest = key.partition("/")
    if not key:
        faults.append(required(path))
    elif not slash or not domain or not rest:
        faults.append(invalid(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")'))
    else:
        faults += [invalid(path, domain, text) for text in dns1123_subdomain_errors(domain)]
    if key != key.lower():
        faults.append(invalid(path, key, "must be lowercase"))
    if slash and any(domain == own or domain.endswith(f".{own}") for own in ("kubernetes.io", "k8s.io")):
        text = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"
        faults.append(invalid(path, key, text))
    return faults
