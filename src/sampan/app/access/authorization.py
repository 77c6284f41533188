"""Authorizers of a server, from its settings.

Concurrency: `ConfiguredAuthorizer.run` is one task, which polls the file. Each request uses one set of authorizers from
start to end.

Source: kubernetes pkg/kubeapiserver/options/authorization.go, pkg/kubeapiserver/authorizer/reload.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final

from sampan.app.errors import StartError, content_of
from sampan.app.settings.up import UpSettings
from sampan.core.suggestions import did_you_mean
from sampan.registry.cluster import Cluster
from sampan.registry.webhook.client import HttpsWebhook, Webhook
from sampan.registry.webhook.kubeconfig import read_webhook_kubeconfig
from sampan.registry.webhook.services import ServiceResolver
from sampan.server.authorization.abac import AbacAuthorizer, parse_policies
from sampan.server.authorization.authorizer import Authorizer, RulesFound, Verdict
from sampan.server.authorization.modes import AuthorizerMaker
from sampan.server.authorization.union import UnionAuthorizer
from sampan.server.authorization.webhook.authorizer import WebhookAuthorizer, WebhookRules
from sampan.server.authorization.webhook.configuration import MODES, parse_configuration
from sampan.server.instruments.reloads import ReloadMetrics
from sampan.server.metrics.security import SecurityMetrics
from sampan.server.request import RequestInfo, UserInfo

_log = logging.getLogger(__name__)

LOOK_INTERVAL_S: Final = 1.0
_DEFAULTS: Final = UpSettings()


class ConfiguredAuthorizer:
    """Authorizer that follows a configuration file. An invalid file is logged, and the previous configuration stays."""

    def __init__(
        self, file: Path, make: Callable[[bytes], list[Authorizer]], reloads: ReloadMetrics | None = None
    ) -> None:
        """`make` returns the authorizers for the file's content. Raises the errors of `make`, and `OSError`."""
        self._reloads = reloads or ReloadMetrics("authorization", "")
        self._file = file
        self._make = make
        self._content = file.read_bytes()
        self._current = UnionAuthorizer(make(self._content))
        self._reloads.began(self._content)
        self.decisions = self._current.decisions
        """Counts of decisions. They continue after a reload."""

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        return await self._current.authorize(user, info)

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Return the user's rules in a namespace, including those for the whole cluster."""
        return self._current.rules_for(user, namespace)

    def reload(self) -> bool:
        """Load the file if it has changed. Return True if a new configuration is in use."""
        try:
            content = self._file.read_bytes()
            if content == self._content:
                return False
            self._content = content
            self._current = UnionAuthorizer(self._make(content), self.decisions)
        except (OSError, ValueError) as error:
            self._reloads.failed()
            _log.warning(
                "cannot reload the authorization configuration; keeping the old one", extra={"error": str(error)}
            )
            return False
        self._reloads.succeeded(content)
        _log.info("authorization configuration reloaded")
        return True

    async def run(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Reload the file when it changes, until cancelled."""
        while True:
            await sleep(LOOK_INTERVAL_S)
            self.reload()


def authorizers_of(settings: UpSettings, cluster: Cluster, metrics: SecurityMetrics | None = None) -> list[Authorizer]:
    """Return the authorizers in order. Raises `StartError`."""
    metrics = metrics or SecurityMetrics()
    maker = AuthorizerMaker(cluster.reader, metrics.authorization)

    def connect(file: Path) -> Webhook:
        target, credentials = read_webhook_kubeconfig(file)
        return HttpsWebhook(target, ServiceResolver(cluster.reader), credentials, requests=cluster.measures.requests)

    try:
        _check_modes(settings)
        if settings.authorization_config is not None:
            file = settings.authorization_config
            reloads = metrics.authorization_config
            with content_of(file):
                make = partial(_configured, maker, connect)
                return [ConfiguredAuthorizer(file, make, reloads)]
        modes = settings.authorization_mode
        special: dict[str, Callable[[], Authorizer]] = {
            "Webhook": lambda: _webhook(settings, connect, metrics),
            "ABAC": lambda: _abac(settings),
        }
        return [special[mode]() if mode in special else maker.of_mode(mode) for mode in modes]
    except OSError as error:
        raise StartError(f"cannot read {error.filename}: {error.strerror}") from error
    except ValueError as error:
        raise StartError(f"cannot use the authorization configuration: {error}") from error


async def keep_authorizers(authorizers: list[Authorizer]) -> None:
    """Keep the authorizers that follow a file up to date, until cancelled."""
    async with asyncio.TaskGroup() as group:
        for authorizer in authorizers:
            if isinstance(authorizer, ConfiguredAuthorizer):
                group.create_task(authorizer.run(), name="authorization configuration")


def _configured(maker: AuthorizerMaker, connect: Callable[[Path], Webhook], content: bytes) -> list[Authorizer]:
    return maker.configured(parse_configuration(content), connect)


def _check_modes(settings: UpSettings) -> None:
    modes = settings.authorization_mode
    if settings.authorization_config is not None:
        flags = (settings.authorization_webhook_config_file, settings.authorization_policy_file)
        if modes != _DEFAULTS.authorization_mode or flags != (None, None):
            text = "--authorization-config can not be specified when --authorization-mode or "
            raise ValueError(text + "--authorization-webhook-* flags are defined")
        return
    if not modes:
        raise ValueError("at least one authorization-mode must be passed")
    for mode in modes:
        if mode not in MODES:
            hint = did_you_mean(mode, MODES) or f"; the modes are {', '.join(MODES)}"
            raise ValueError(f'authorization-mode "{mode}" is not a valid mode{hint}')
    if len(set(modes)) != len(modes):
        raise ValueError(f"authorization-mode {list(modes)} has mode specified more than once")
    if "ABAC" in modes and settings.authorization_policy_file is None:
        raise ValueError("authorization-mode ABAC's authorization policy file not passed")
    if "ABAC" not in modes and settings.authorization_policy_file is not None:
        raise ValueError("cannot specify --authorization-policy-file without mode ABAC")
    if "Webhook" in modes and settings.authorization_webhook_config_file is None:
        raise ValueError("authorization-mode Webhook's authorization config file not passed")
    if "Webhook" not in modes and settings.authorization_webhook_config_file is not None:
        raise ValueError("cannot specify --authorization-webhook-config-file without mode Webhook")


def _webhook(settings: UpSettings, connect: Callable[[Path], Webhook], metrics: SecurityMetrics) -> Authorizer:
    assert settings.authorization_webhook_config_file is not None
    rules = WebhookRules(
        "default",
        settings.authorization_webhook_version,
        authorized_ttl_s=settings.authorization_webhook_cache_authorized_ttl_s,
        unauthorized_ttl_s=settings.authorization_webhook_cache_unauthorized_ttl_s,
    )
    return WebhookAuthorizer(
        connect(settings.authorization_webhook_config_file),
        rules,
        asyncio.get_running_loop().time,
        metrics.authorization,
    )


def _abac(settings: UpSettings) -> Authorizer:
    file = settings.authorization_policy_file
    assert file is not None
    with content_of(file):
        return AbacAuthorizer(parse_policies(file.read_text(), str(file)))
