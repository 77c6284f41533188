"""Configuration of one issuer from the --oidc-* options.

Source: kubernetes pkg/kubeapiserver/options/authentication.go ToAuthenticationConfig (1.36).
"""

from sampan.app.settings.authentication import OidcSettings
from sampan.server.authentication.jwt.configuration import (
    AuthenticationConfiguration,
    ClaimMappings,
    ClaimRule,
    Issuer,
    JwtIssuer,
    PrefixedMapping,
)

NO_PREFIX = "-"


def oidc_configuration(settings: OidcSettings) -> AuthenticationConfiguration:
    """Return the configuration; empty without an issuer.

    Raises `OSError`, and `ValueError` for an issuer without a client id.
    """
    if bool(settings.issuer_url) != bool(settings.client_id):
        raise ValueError("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
    if not settings.issuer_url:
        return AuthenticationConfiguration()
    groups = (
        PrefixedMapping(settings.groups_claim, settings.groups_prefix) if settings.groups_claim else PrefixedMapping()
    )
    issuer = JwtIssuer(
        Issuer(
            settings.issuer_url,
            certificate_authority=settings.ca_file.read_text() if settings.ca_file else "",
            audiences=[settings.client_id],
        ),
        [ClaimRule(name, value) for name, value in settings.required_claims],
        ClaimMappings(PrefixedMapping(settings.username_claim, _username_prefix(settings)), groups),
    )
    return AuthenticationConfiguration(jwt=[issuer])


def _username_prefix(settings: OidcSettings) -> str:
    """Return the prefix of user names. The default is the issuer, except for email addresses."""
    if settings.username_prefix == NO_PREFIX:
        return ""
    if not settings.username_prefix and settings.username_claim != "email":
        return f"{settings.issuer_url}#"
    return settings.username_prefix
