"""`ConfiguredIssuers`: the issuers of an AuthenticationConfiguration, which is reloaded when its file changes.

Concurrency: one task, `run`, polls the file and the issuers whose keys are not available yet. Each poll is bounded by
the timeout of a document. A new configuration takes effect when the keys of all its issuers are available. Until then,
and if it is invalid, the old one stays in effect.
Source: kubernetes pkg/kubeapiserver/authenticator/config.go, pkg/kubeapiserver/options/authentication.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sampan.core.field import aggregate
from sampan.server.authentication.authenticator import TokenUser
from sampan.server.authentication.jwt.configuration import (
    Anonymous,
    AuthenticationConfiguration,
    JwtIssuer,
    parse_configuration,
)
from sampan.server.authentication.jwt.https import FetchError, HttpsGet
from sampan.server.authentication.jwt.keys import IssuerKeys
from sampan.server.authentication.jwt.tokens import JwtTokens
from sampan.server.authentication.jwt.validation import ConfigurationValidator
from sampan.server.authentication.jwt.verifier import ALGORITHMS
from sampan.server.authentication.metrics import IssuerMetrics
from sampan.server.instruments.reloads import ReloadMetrics

_log = logging.getLogger("sampan.authentication")

POLL_INTERVAL_S = 10.0


OnFetch = Callable[[bytes | None], None]
"""Called with each fetched document of keys, or with None after a failure."""


def _keys(spec: JwtIssuer, on_fetch: OnFetch) -> IssuerKeys:
    issuer = spec.issuer
    get = HttpsGet(issuer.certificate_authority)
    return IssuerKeys(issuer.url, get, discovery_url=issuer.discovery_url, on_fetch=on_fetch)


@dataclass(frozen=True, slots=True)
class IssuerRules:
    """Settings for the issuers of every configuration."""

    disallowed: tuple[str, ...] = ()
    """Issuers that a configuration must not contain, because they are this server's own."""
    algorithms: Sequence[str] = ALGORITHMS
    keys: Callable[[JwtIssuer, OnFetch], IssuerKeys] = _keys
    """Returns the keys of an issuer."""
    metrics: IssuerMetrics = field(default_factory=IssuerMetrics)

    def build(self, configuration: AuthenticationConfiguration) -> list[JwtTokens]:
        """Return the authenticators of a configuration. Raises `ValueError` with all faults."""
        validator = ConfigurationValidator(self.disallowed)
        issuers = validator.check(configuration)
        if validator.faults:
            raise ValueError(aggregate(validator.faults))
        return [
            JwtTokens(one, self._keys_of(one.spec), algorithms=self.algorithms, metrics=self.metrics) for one in issuers
        ]

    def _keys_of(self, spec: JwtIssuer) -> IssuerKeys:
        return self.keys(spec, partial(self.metrics.fetched, spec.issuer.url))


class ConfiguredIssuers:
    """Authenticates the tokens of the configured issuers. A `TokenError` of the first matching issuer is final."""

    cacheable = True

    def __init__(
        self,
        configuration: AuthenticationConfiguration,
        rules: IssuerRules,
        *,
        file: Path | None = None,
        reloads: ReloadMetrics | None = None,
    ) -> None:
        """`file` is polled for new configurations. Raises `ValueError` if the configuration is invalid."""
        self._rules = rules
        self._file = file
        self._text = _text_of(file)
        self._reloads = reloads or ReloadMetrics("authentication", "")
        self._reloads.began(self._text or b"")
        self._current = rules.build(configuration)
        self._next: list[JwtTokens] | None = None

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """Return the user, or None if the token is unknown."""
        for tokens in self._current:
            found = await tokens.authenticate_token(token, audiences)
            if found is not None:
                return found
        return None

    async def run(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Poll until cancelled."""
        while True:
            await self.poll()
            await sleep(POLL_INTERVAL_S)

    async def poll(self) -> None:
        """Discover the keys of issuers that are not ready. Apply a new configuration when all its issuers are ready."""
        self._read()
        waiting = [*self._current, *(self._next or ())]
        async with asyncio.TaskGroup() as group:
            for tokens in waiting:
                if not tokens.keys.ready:
                    group.create_task(_discover(tokens))
        if self._next is not None and all(tokens.keys.ready for tokens in self._next):
            self._current, self._next = self._next, None
            self._rules.metrics.keep(tokens.url for tokens in self._current)
            self._reloads.succeeded(self._text or b"")
            _log.info("reloaded the authentication configuration", extra={"issuers": len(self._current)})

    def _read(self) -> None:
        text = _text_of(self._file)
        if text is None or text == self._text:
            return
        self._text = text
        try:
            self._next = self._rules.build(parse_configuration(text))
        except ValueError as error:
            self._reloads.failed()
            _log.warning(
                "cannot reload the authentication configuration; keeping the old one", extra={"error": str(error)}
            )


def read_configuration(file: Path) -> AuthenticationConfiguration:
    """Read a configuration from a file. Raises `OSError`, `ValueError`."""
    return parse_configuration(file.read_bytes())


def anonymous_paths(anonymous: Anonymous) -> list[str]:
    """Return the paths on which anonymous requests are allowed. An empty list means all paths."""
    return [condition.path for condition in anonymous.conditions]


async def _discover(tokens: JwtTokens) -> None:
    try:
        await tokens.keys.discover()
    except FetchError as error:
        _log.warning(
            "cannot discover the keys of a token issuer; retrying", extra={"issuer": tokens.url, "error": str(error)}
        )


def _text_of(file: Path | None) -> bytes | None:
    try:
        return file.read_bytes() if file is not None else None
    except OSError:
        return None
