"""Creation of authorizers, by mode or from an AuthorizationConfiguration.

Source: kubernetes pkg/kubeapiserver/authorizer/{config,reload}.go (1.36).
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from sampan.core.clock import monotonic
from sampan.core.field import FieldError, aggregate
from sampan.core.field import Path as FieldPath
from sampan.registry.reader import CacheReader
from sampan.registry.webhook.client import Webhook
from sampan.server.authorization.always import AlwaysAllow, AlwaysDeny
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.metrics import AuthorizationMetrics
from sampan.server.authorization.node.authorizer import NodeAuthorizer
from sampan.server.authorization.node.graph import NodeGraph
from sampan.server.authorization.rbac.authorizer import RbacAuthorizer
from sampan.server.authorization.rbac.index import RbacIndex
from sampan.server.authorization.webhook.authorizer import WebhookAuthorizer, WebhookRules
from sampan.server.authorization.webhook.conditions import ConditionCompiler, MatchConditions
from sampan.server.authorization.webhook.configuration import (
    AuthorizationConfiguration,
    WebhookPart,
    compiled_conditions,
    configuration_faults,
)

_S: Final = 1_000_000_000
_ON_ERROR: Final = {"Deny": Decision.DENY, "NoOpinion": Decision.NO_OPINION}

Connect = Callable[[Path], Webhook]
"""Returns the webhook of a kubeconfig file. Raises `OSError` and `ValueError`."""


class AuthorizerMaker:
    """Creates the authorizers of one cluster. All configurations share the index of roles and the graph of nodes."""

    def __init__(self, reader: CacheReader, metrics: AuthorizationMetrics | None = None) -> None:
        self._metrics = metrics
        self._index = RbacIndex(reader)
        self._graph = NodeGraph(reader)
        self._compiler = ConditionCompiler()

    def of_mode(self, mode: str, name: str = "") -> Authorizer:
        """Return an authorizer of a mode other than Webhook; by default its name is that of the mode. Raises
        `ValueError`.
        """
        match mode:
            case "RBAC":
                return RbacAuthorizer(self._index, name or "rbac")
            case "Node":
                return NodeAuthorizer(self._graph, name or "node")
            case "AlwaysAllow":
                return AlwaysAllow()
            case "AlwaysDeny":
                return AlwaysDeny()
        raise ValueError(f'authorization-mode "{mode}" is not a valid mode')

    def configured(self, configuration: AuthorizationConfiguration, connect: Connect) -> list[Authorizer]:
        """Return the authorizers of a configuration. Raises `OSError`, and `ValueError` with all faults."""
        faults = configuration_faults(configuration, self._compiler)
        if faults:
            raise ValueError(aggregate(faults))
        return [
            self.of_mode(part.type, part.name)
            if part.webhook is None
            else self._webhook(part.name, part.webhook, connect)
            for part in configuration.authorizers
        ]

    def _webhook(self, name: str, part: WebhookPart, connect: Connect) -> Authorizer:
        file = part.connection_info.kube_config_file
        if file is None:
            raise ValueError("connectionInfo InClusterConfig: this server does not run in a Pod")
        faults: list[FieldError] = []
        rules = WebhookRules(
            name,
            part.subject_access_review_version,
            part.timeout_ns / _S,
            part.authorized_ttl_ns / _S if part.cache_authorized_requests else 0.0,
            part.unauthorized_ttl_ns / _S if part.cache_unauthorized_requests else 0.0,
            _ON_ERROR[part.failure_policy],
            MatchConditions(compiled_conditions(part.match_conditions, FieldPath(""), self._compiler, faults)),
        )
        return WebhookAuthorizer(connect(Path(file)), rules, monotonic, self._metrics)


def default_authorizers(reader: CacheReader) -> list[Authorizer]:
    """Return the default authorizers: Node, RBAC."""
    maker = AuthorizerMaker(reader)
    return [maker.of_mode("Node"), maker.of_mode("RBAC")]


def rbac_of(authorizers: Iterable[Authorizer], reader: CacheReader) -> RbacAuthorizer:
    """Return the RBAC authorizer of the list, or a new one. The check for escalation needs it in every mode."""
    for authorizer in authorizers:
        if isinstance(authorizer, RbacAuthorizer):
            return authorizer
    return RbacAuthorizer(RbacIndex(reader))
