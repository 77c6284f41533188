"""Effect of the options for authentication on a server."""

import datetime
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sampan.app.access.authentication import Authentication
from sampan.app.access.oidc import oidc_configuration
from sampan.app.errors import StartError
from sampan.app.settings.authentication import AuthenticationSettings, OidcSettings
from sampan.app.settings.up import UpSettings
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration
from sampan.core.tls.certificates import make_authority
from sampan.core.tokens.keys import make_signing_key
from sampan.registry.cluster import Cluster
from sampan.server.pki.client_verifier import ClientCertificateVerifier
from sampan.server.pki.directory import prepare_credentials
from sampan.server.post_start_hooks.extension_authentication import combined, publish_authentication
from sampan.storage.memory import MemoryStore
from tests.server.cluster import served

NOW = datetime.datetime.now(datetime.UTC)
CONFIGURATION = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"


def reported(*arguments: str) -> AuthenticationSettings:
    """The settings that a command line makes."""
    found: list[AuthenticationSettings] = []

    @click.command(cls=SettingsCommand, root=AuthenticationSettings())
    def command(configuration: Configuration) -> None:
        found.append(configuration.settings)

    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    return found[0]


def made(data: Path, settings: AuthenticationSettings) -> Authentication:
    """The authentication of a server with these settings."""
    data.mkdir(exist_ok=True)
    credentials = prepare_credentials(data, ["127.0.0.1"], datetime.datetime.now(datetime.UTC))
    up = UpSettings(data=data, authentication=settings)
    return Authentication(up, credentials, ClientCertificateVerifier([]), Cluster(MemoryStore()), lambda: "")


def test_without_options_all_is_by_default() -> None:
    assert reported() == AuthenticationSettings()


def test_options_are_kubernetes_own() -> None:
    settings = reported(
        "--service-account-issuer=https://a",
        "--service-account-issuer=https://b",
        "--service-account-max-token-expiration=24h",
        "--api-audiences=x,y",
        "--anonymous-auth=false",
        "--enable-bootstrap-token-auth",
        "--oidc-issuer-url=https://i",
        "--oidc-client-id=c",
        "--oidc-required-claim=org=acme",
        "--authentication-token-webhook-cache-ttl=30s",
        "--requestheader-username-headers=X-User,X-Other",
    )
    assert settings.service_account_issuers == ("https://a", "https://b")
    assert settings.service_account_max_token_expiration_s == 86400
    assert settings.audiences == ("x", "y")
    assert settings.anonymous_auth is False
    assert settings.enable_bootstrap_token_auth
    assert settings.oidc == OidcSettings("https://i", "c", required_claims=(("org", "acme"),))
    assert settings.webhook_cache_ttl_s == 30
    assert settings.request_header.username_headers == ("X-User", "X-Other")


@pytest.mark.parametrize(
    ("settings", "prefix"),
    [
        (OidcSettings("https://i", "c"), "https://i#"),
        (OidcSettings("https://i", "c", username_claim="email"), ""),
        (OidcSettings("https://i", "c", username_prefix="-"), ""),
        (OidcSettings("https://i", "c", username_prefix="o:"), "o:"),
    ],
    ids=["by default", "address", "none", "given"],
)
def test_names_of_an_issuer_are_distinguished(settings: OidcSettings, prefix: str) -> None:
    assert oidc_configuration(settings).jwt[0].claim_mappings.username.prefix == prefix


async def test_the_key_of_tokens_is_made_once(tmp_path: Path) -> None:
    first, second = (made(tmp_path / "data", AuthenticationSettings()) for _ in range(2))
    key = tmp_path / "data" / "pki" / "sa.key"
    assert key.stat().st_mode & 0o777 == 0o600
    account = {"metadata": {"name": "a", "namespace": "b", "uid": "c"}}
    assert first.identity.issuer is not None
    assert second.identity.issuer is not None
    heads = {one.identity.issuer.legacy(account, "s").split(".")[0] for one in (first, second) if one.identity.issuer}
    assert len(heads) == 1


async def test_the_front_proxy_has_its_own_authority(tmp_path: Path) -> None:
    authentication = made(tmp_path / "data", AuthenticationSettings())
    assert authentication.request_headers.allowed_names == ("front-proxy-client",)
    assert (tmp_path / "data" / "pki" / "front-proxy-client.crt").exists()


async def test_keys_of_before_still_verify(tmp_path: Path) -> None:
    old = tmp_path / "old.pub"
    old.write_bytes(make_signing_key().public_pem())
    authentication = made(tmp_path / "data", AuthenticationSettings(service_account_key_files=(old,)))
    assert authentication.identity.discovery is not None
    assert len(authentication.identity.discovery.keys) == 2


async def test_the_configuration_file_decides_about_anonymous_requests(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"{CONFIGURATION}anonymous: {{enabled: false}}\n")
    assert made(tmp_path / "data", AuthenticationSettings(authentication_config=file)).anonymous is None
    with pytest.raises(StartError, match="--anonymous-auth"):
        made(tmp_path / "data", AuthenticationSettings(authentication_config=file, anonymous_auth=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind: Pod", "no kind"),
        (f"{CONFIGURATION}jwt: [{{issuer: {{url: 'http://x', audiences: [a]}}}}]", "URL scheme must be https"),
    ],
    ids=["another kind", "no https"],
)
async def test_a_wrong_configuration_ends_the_start(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(StartError, match=expected):
        made(tmp_path / "data", AuthenticationSettings(authentication_config=file))


async def test_how_clients_are_known_is_published(tmp_path: Path) -> None:
    authentication = made(tmp_path / "data", AuthenticationSettings())
    published = authentication.published()
    assert published["requestheader-allowed-names"] == '["front-proxy-client"]'
    assert published["client-ca-file"].startswith("-----BEGIN CERTIFICATE-----")


async def test_a_published_client_ca_is_replaced_and_other_keys_stay() -> None:
    path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
    async with served() as api:
        await publish_authentication(api.cluster, {"client-ca-file": "old"})
        await api.patch(path, {"data": {"of-others": "stays"}})
        await publish_authentication(api.cluster, {"client-ca-file": "new"})
        assert (await api.get(path)).body["data"] == {"client-ca-file": "new", "of-others": "stays"}


async def test_published_authorities_are_merged_with_those_of_other_servers() -> None:
    path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
    rest, own = authority("of-others"), authority("own")
    async with served() as api:
        await publish_authentication(api.cluster, {"client-ca-file": rest, "requestheader-allowed-names": '["a"]'})
        for _ in range(2):
            data = {"client-ca-file": own, "requestheader-allowed-names": '["b", "a"]'}
            await publish_authentication(api.cluster, data)
        found = (await api.get(path)).body
    assert found["data"] == {"client-ca-file": rest + own, "requestheader-allowed-names": '["a","b"]'}


def test_an_authority_that_has_expired_is_not_reported_any_more() -> None:
    expired, own = authority("expired", -datetime.timedelta(days=400)), authority("own")
    assert combined({"client-ca-file": expired}, {"client-ca-file": own}, NOW) == {"client-ca-file": own}


def authority(name: str, since: datetime.timedelta = datetime.timedelta()) -> str:
    """A certificate for a year."""
    return make_authority(name, NOW + since, datetime.timedelta(days=365)).certificate_pem().decode()
