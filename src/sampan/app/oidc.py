"""The --oidc-* options as a configuration with one issuer.

Source: kubernetes pkg/kubeapiserver/options/authentication.go ToAuthenticationConfig (1.36).
"""

from sampan.app.authentication_settings import OidcSettings
from sampan.server.authentication.jwt.configuration import (
    AuthenticationConfiguration,
    ClaimMappings,
    ClaimRule,
    Issuer,
    JwtIssuer,
    PrefixedMapping,
)

NO_PREFIX = "-"


def oidc_configuration(told: OidcSettings) -> AuthenticationConfiguration:
    """Without an issuer: none. Raises `OSError`, and `ValueError` for an issuer without a client id."""
    if bool(told.issuer_url) != bool(told.client_id):
        raise ValueError("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
    if not told.issuer_url:
        return AuthenticationConfiguration()
    groups = PrefixedMapping(told.groups_claim, told.groups_prefix) if told.groups_claim else PrefixedMapping()
    issuer = JwtIssuer(
        Issuer(
            told.issuer_url,
            certificate_authority=told.ca_file.read_text() if told.ca_file else "",
            audiences=[told.client_id],
        ),
        [ClaimRule(name, value) for name, value in told.required_claims],
        ClaimMappings(PrefixedMapping(told.username_claim, _username_prefix(told)), groups),
    )
    return AuthenticationConfiguration(jwt=[issuer])


def _username_prefix(told: OidcSettings) -> str:
    """Names of other claims than the address are told apart from everybody else's."""
    if told.username_prefix == NO_PREFIX:
        return ""
    if not told.username_prefix and told.username_claim != "email":
        return f"{told.issuer_url}#"
    return told.username_prefix
