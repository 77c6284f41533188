"""`ConfiguredIssuers`: the issuers of a configuration, and of the next one when its file changes.

Concurrency: `run` looks at the file and at issuers that have not answered yet; one task, each look bounded by the
time that a document may take. A new configuration counts from when all its issuers have answered; until then, and
when it is wrong, the old one does.
Source: kubernetes pkg/kubeapiserver/authenticator/config.go, pkg/kubeapiserver/options/authentication.go (1.36).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
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
from sampan.server.reload_metrics import ReloadMetrics

_log = logging.getLogger("sampan.authentication")

LOOK_INTERVAL_S = 10.0


def _keys(spec: JwtIssuer) -> IssuerKeys:
    issuer = spec.issuer
    return IssuerKeys(issuer.url, HttpsGet(issuer.certificate_authority), discovery_url=issuer.discovery_url)


@dataclass(frozen=True, slots=True)
class IssuerRules:
    """What holds for the issuers of every configuration."""

    disallowed: tuple[str, ...] = ()
    """Issuers that are our own."""
    algorithms: Sequence[str] = ALGORITHMS
    keys: Callable[[JwtIssuer], IssuerKeys] = _keys
    """Gives the keys of an issuer."""
    metrics: IssuerMetrics = field(default_factory=IssuerMetrics)

    def made(self, configuration: AuthenticationConfiguration) -> list[JwtTokens]:
        """The authenticators of a configuration. Raises `ValueError` with all that is wrong."""
        validator = ConfigurationValidator(self.disallowed)
        issuers = validator.check(configuration)
        if validator.faults:
            raise ValueError(aggregate(validator.faults))
        return [
            JwtTokens(one, self.keys(one.spec), algorithms=self.algorithms, metrics=self.metrics) for one in issuers
        ]


class ConfiguredIssuers:
    """Knows the tokens of the issuers of a configuration. The first that says that a token is wrong has the word."""

    cacheable = True

    def __init__(
        self,
        configuration: AuthenticationConfiguration,
        rules: IssuerRules,
        *,
        file: Path | None = None,
        reloads: ReloadMetrics | None = None,
    ) -> None:
        """`file`: where new configurations come from. Raises `ValueError` when the configuration is wrong."""
        self._rules = rules
        self._file = file
        self._text = _text_of(file)
        self._reloads = reloads or ReloadMetrics("authentication", "")
        self._reloads.began(self._text or b"")
        self._current = rules.made(configuration)
        self._next: list[JwtTokens] | None = None

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """See `TokenAuthenticator`."""
        for tokens in self._current:
            found = await tokens.authenticate_token(token, audiences)
            if found is not None:
                return found
        return None

    async def run(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Look again and again; ends by cancellation."""
        while True:
            await self.look()
            await sleep(LOOK_INTERVAL_S)

    async def look(self) -> None:
        """Ask issuers that have not answered yet; take a new configuration when it is ready."""
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
            _log.info("authentication configuration reloaded", extra={"issuers": len(self._current)})

    def _read(self) -> None:
        text = _text_of(self._file)
        if text is None or text == self._text:
            return
        self._text = text
        try:
            self._next = self._rules.made(parse_configuration(text))
        except ValueError as error:
            self._reloads.failed()
            _log.warning("authentication configuration not reloaded", extra={"error": str(error)})


def read_configuration(file: Path) -> AuthenticationConfiguration:
    """Raises `OSError`, `ValueError`."""
    return parse_configuration(file.read_bytes())


def anonymous_paths(anonymous: Anonymous) -> list[str]:
    """On which paths requests need no credentials; none: on all."""
    return [condition.path for condition in anonymous.conditions]


async def _discover(tokens: JwtTokens) -> None:
    try:
        await tokens.keys.discover()
    except FetchError as error:
        _log.warning("issuer not ready", extra={"issuer": tokens.url, "error": str(error)})


def _text_of(file: Path | None) -> bytes | None:
    try:
        return file.read_bytes() if file is not None else None
    except OSError:
        return None
