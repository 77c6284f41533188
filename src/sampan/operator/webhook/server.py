"""`WebhookServer`: completes, checks and converts objects for API servers.

    webhooks = WebhookServer(manager, SecretStore(client, "net", "net-webhook"), WebhookOptions(service=…))

    @webhooks.mutating(Network)
    def fill_in(network: Network) -> None:
        network.spec.gateway = network.spec.gateway or first_address(network.spec.cidr)

Concurrency: `run` owns the tasks of the certificates, of the listener (one for each connection) and of the injector.
The manager starts it before the caches, on every replica, and lets requests end when it ends.
Source: controller-runtime pkg/webhook/server.go (0.24).
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from sampan.core.time import NANOSECONDS_PER_SECOND, parse_duration
from sampan.core.user_code import report_caught
from sampan.http.server import HttpLimits, HttpListener, Request, Response
from sampan.operator.caches.options import NamespaceSelector
from sampan.operator.manager import Group, Manager, ManagerOptions
from sampan.operator.rights import Right, rights_on
from sampan.operator.webhook.admission import AdmissionEndpoint
from sampan.operator.webhook.certificates import (
    CertificateFiles,
    CertificateSource,
    CertificateStore,
    IssuedCertificates,
    SecretStore,
)
from sampan.operator.webhook.conversion import HubConversion
from sampan.operator.webhook.conversion_endpoint import PATH as CONVERT_PATH
from sampan.operator.webhook.conversion_endpoint import ConversionEndpoint
from sampan.operator.webhook.endpoint import ReviewEndpoint
from sampan.operator.webhook.hook import HookKind, configuration_of
from sampan.operator.webhook.hooks import Hooks
from sampan.operator.webhook.injector import CaBundleInjector
from sampan.operator.webhook.metrics import WebhookMetrics
from sampan.operator.webhook.options import DISABLED, WebhookOptions
from sampan.operator.webhook.serving_tls import ServingContext
from sampan.operator.webhook.targets import ConversionTarget, InjectionTarget, ManagedConfiguration
from sampan.operator.webhook.token_review import Authenticate, TokenReviewEndpoint
from sampan.resource import Object

_log = logging.getLogger("sampan.webhook")

A = TypeVar("A", bound=Authenticate)
H = TypeVar("H")

_VERBS: Final = ("get", "list", "patch", "watch")
"""Verbs of the injector on its targets."""
_JSON: Final = "application/json"
_UNKNOWN_BODY_BYTES_MAX: Final = 1 << 20
_READING_S: Final = 5.0
"""Time to receive a request, in addition to its processing."""


class WebhookServer(Hooks):
    """Serves webhooks over HTTPS. Register everything before the manager runs."""

    needs_leader_election = False

    def __init__(
        self,
        manager: Manager,
        certificates: CertificateStore | CertificateSource,
        options: WebhookOptions = WebhookOptions(),
    ) -> None:
        """A `CertificateStore` keeps certificates of this server; a `CertificateSource` supplies foreign ones."""
        super().__init__()
        certificates, self.options = _as_deployed(manager, certificates, options)
        options = self.options
        self._client = manager.client.direct
        self._clock = manager.options.clock
        self._namespaces = _names_of_namespaces(manager.options)
        self.certificates = (
            certificates
            if isinstance(certificates, CertificateSource)
            else IssuedCertificates(certificates, options.hosts, self._clock, options.terms)
        )
        """Source of the serving certificate."""
        self._metrics = WebhookMetrics(manager.registry)
        self._conversions = ConversionEndpoint(self._metrics.conversion_panics.inc)
        self._authenticators: dict[str, Authenticate] = {}
        self._endpoints: dict[str, ReviewEndpoint] = {}
        self._listener: HttpListener | None = None
        self._ready = asyncio.Event()
        manager.add(self, group=Group.WEBHOOKS)
        manager.add_readyz_check("webhook", self.check)
        manager.add_healthz_check("webhook", self._check_alive)

    def __str__(self) -> str:
        return "webhook server"

    def targets(self) -> list[InjectionTarget]:
        """Return all objects that contain the caBundle."""
        targets = list(self.options.inject_into)
        name = self.options.ensure_configurations
        for kind in HookKind if name else ():
            made = configuration_of(kind, name, self.hooks, self._client_config, self._namespaces)
            if made is not None:
                targets.append(ManagedConfiguration(kind, made))
        if _ensures_conversions(self.options):
            config = self._client_config(CONVERT_PATH)
            targets += [ConversionTarget(each.crd_name, config) for each in self._conversions.conversions]
        return targets

    def _client_config(self, path: str) -> Object:
        return self.options.client_config(path, self.port)

    def installed(self) -> list[Object]:
        """Return the objects that must exist, because `rights` do not permit to create them.

        They are the Secret of the certificates, and the configurations without caBundles.
        """
        found: list[Object] = []
        store = self.certificates.store if isinstance(self.certificates, IssuedCertificates) else None
        if isinstance(store, SecretStore):
            found.append(store.empty())
        return found + [each.configuration for each in self.targets() if isinstance(each, ManagedConfiguration)]

    def rights(self) -> list[Right]:
        """Return the rights on the targets and on the store of the certificates."""
        if self.disabled:
            return []
        found = [right for each in self.targets() for right in rights_on(each.info, _VERBS, name=each.name)]
        return [*found, *self.certificates.rights()]

    def conversion(self, hub: type[H]) -> HubConversion[H]:
        """Return a new conversion of a kind, with this version as the hub. Register the functions with it.

        Raises `TypeError` for an undeclared class, `ValueError` for a second hub of a kind.
        """
        made = HubConversion(hub)
        self._conversions.add(made)
        return made

    def authenticating(self, path: str = "/authenticate") -> Callable[[A], A]:
        """Decorate the function that authenticates tokens (TokenReview). Raises `ValueError` if the path is in use."""
        if path in self._authenticators:
            raise ValueError(f"{path} is already in use")

        def register(authenticate: A) -> A:
            self._authenticators[path] = authenticate
            return authenticate

        return register

    @property
    def port(self) -> int:
        """Listening port, once it is ready."""
        return self.options.port if self._listener is None else self._listener.port

    @property
    def disabled(self) -> bool:
        """True if the server is configured to serve nothing."""
        return self.options.port == DISABLED

    def check(self) -> None:
        """Raise `RuntimeError` if the server does not listen, or its certificate has expired. Probes call it."""
        if self.disabled:
            return
        if self._listener is None or not self._listener.serving:
            raise RuntimeError("the webhook server is not listening")
        if self.certificates.material.not_after <= self._clock.now():
            raise RuntimeError("the certificate of the webhook server has expired")

    async def ready(self) -> None:
        """Wait until the server listens and has tried to register with the API server (configurations, caBundles)."""
        await self._ready.wait()

    async def run(self) -> None:
        """Serve until cancelled or drained. Raises `TypeError` for an incomplete conversion, `ValueError` for a
        duplicate path.

        If it cannot listen, it raises an `ExceptionGroup` with an `OSError`.
        """
        if self.disabled:
            self._ready.set()
            return
        self._endpoints = self._make_endpoints()
        async with asyncio.TaskGroup() as tasks:
            background = [tasks.create_task(self.certificates.run(), name="certificates")]
            await self.certificates.ready()
            self._listener = listener = self._make_listener()
            serving = tasks.create_task(listener.run(), name="listener")
            await listener.ready()
            injector = CaBundleInjector(self._client, self.certificates, self.targets())
            background.append(tasks.create_task(injector.run(), name="caBundle injector"))
            await injector.settled()
            self._ready.set()
            await asyncio.wait({serving})
            for task in background:
                task.cancel()

    async def drain(self) -> None:
        """Finish running requests, then stop."""
        if self._listener is not None:
            await self._listener.drain()

    async def respond(self, request: Request) -> Response:
        """Return the response to a request."""
        path = request.path
        endpoint = self._endpoints.get(path)
        if endpoint is None:
            return Response(404, b"404 page not found\n")
        with self._metrics.request(path):
            response = await self._response(endpoint, request)
        self._metrics.record_response(path, response.code)
        return response

    async def _response(self, endpoint: ReviewEndpoint, request: Request) -> Response:
        if request.method != "POST":
            return Response(405, b"only POST\n")
        if not request.body:
            return Response(400, b"request body is empty\n")
        media_type = request.headers.get("content-type", "").partition(";")[0].strip()
        if media_type != _JSON:
            return Response(400, f"contentType={media_type}, expected {_JSON}\n".encode())
        try:
            async with asyncio.timeout(self._timeout_s(request)):
                response = await endpoint.respond(request.body)
        except TimeoutError:
            # An error without a review: the webhook's failurePolicy applies.
            _log.warning("request timed out: %s", request.path)
            report_caught(f"webhook {request.path}", TimeoutError("the webhook took too long"))
            return Response(504, b"the webhook took too long\n")
        except Exception as error:
            _log.exception("request failed: %s", request.path)
            report_caught(f"webhook {request.path}", error)
            return Response(500, b"internal error\n")
        return Response(response.code, response.body, _JSON)

    def _timeout_s(self, request: Request) -> float:
        """Return the timeout of the API server (in the query), but at most that of the options."""
        for text in request.query.get("timeout", ()):
            try:
                return min(parse_duration(text) / NANOSECONDS_PER_SECOND, self.options.request_timeout_s)
            except ValueError:
                continue
        return self.options.request_timeout_s

    def _make_endpoints(self) -> dict[str, ReviewEndpoint]:
        endpoints: dict[str, ReviewEndpoint] = {
            path: TokenReviewEndpoint(authenticate, self._metrics.panics.inc)
            for path, authenticate in self._authenticators.items()
        }
        admission = {
            hook.path: AdmissionEndpoint(self.handler(hook.path), self._metrics.panics.inc) for hook in self.hooks
        }
        for conversion in self._conversions.conversions:
            conversion.check()
        converting = {CONVERT_PATH: self._conversions} if self._conversions.conversions else {}
        for further in (admission, converting):
            taken = sorted(set(endpoints) & set(further))
            if taken:
                raise ValueError(f"{taken[0]} is registered twice")
            endpoints.update(further)
        for path in endpoints:
            self._metrics.prepare(path)
        return endpoints

    def _make_listener(self) -> HttpListener:
        options = self.options
        endpoints = self._endpoints
        limits = HttpLimits(
            head_bytes_max=65_536,
            body_bytes_max=lambda path: (
                endpoints[path].body_bytes_max if path in endpoints else _UNKNOWN_BODY_BYTES_MAX
            ),
            connections_max=options.connections_max,
            request_timeout_s=options.request_timeout_s + _READING_S,
            # API servers keep connections for 90 s. The client should close first, so that no request is lost.
            idle_timeout_s=100.0,
        )
        tls = ServingContext(self.certificates, client_ca_file=options.client_ca_file)
        return HttpListener(self.respond, options.host, options.port, limits=limits, tls=tls.context)

    def _check_alive(self) -> None:
        """Check liveness. During the start it may wait for the API server, and a restart would not help."""
        if self._ready.is_set():
            self.check()


def _as_deployed(
    manager: Manager, certificates: CertificateStore | CertificateSource, options: WebhookOptions
) -> tuple[CertificateStore | CertificateSource, WebhookOptions]:
    """Return certificates and options with what the manager's options have, which flags set."""
    name, conversions = manager.options.webhook_configurations, manager.options.webhook_conversions
    options = replace(options, ensure_conversions=conversions and _ensures_conversions(options))
    if name and options.ensure_configurations:
        options = replace(options, ensure_configurations="" if name == "0" else name)
    address = manager.options.webhook_address
    if address is not None and options.port != DISABLED:
        options = replace(options, host=address[0], port=address[1])
    service, files = manager.options.webhook_service, manager.options.webhook_cert_path
    if service is not None and options.service is None:
        options = replace(options, service=service)
        if not isinstance(certificates, CertificateSource):
            certificates = SecretStore(manager.client.direct, service.namespace, service.name)
    return (certificates if files is None else CertificateFiles(files)), options


def _ensures_conversions(options: WebhookOptions) -> bool:
    return bool(options.ensure_configurations) if options.ensure_conversions is None else options.ensure_conversions


def _names_of_namespaces(options: ManagerOptions) -> Sequence[str]:
    """Return the namespaces to which an operator is limited by their names. Webhooks are for them only, too."""
    if isinstance(options.namespaces, NamespaceSelector):
        return ()
    return tuple(options.namespaces) or ((options.namespace,) if options.namespace else ())
