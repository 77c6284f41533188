"""ServiceAccounts. Source: pkg/registry/core/serviceaccount/strategy.go (1.36)."""

from __future__ import annotations

from typing import Final

from sampan.kinds import core_v1
from sampan.registry.columns.cells import NAME
from sampan.registry.kind import Kind
from sampan.registry.strategy import Context, Strategy

_ENFORCE = "kubernetes.io/enforce-mountable-secrets"


class ServiceAccountStrategy(Strategy):
    """Strategy of ServiceAccounts. References to secrets are reduced to their names."""

    has_generation = False
    returns_deleted_object = True

    def prepare_for_create(self, ctx: Context, obj: core_v1.ServiceAccount) -> None:
        _clean_references(obj)

    def prepare_for_update(self, ctx: Context, obj: core_v1.ServiceAccount, old: core_v1.ServiceAccount) -> None:
        _clean_references(obj)

    def warnings_on_create(self, ctx: Context, obj: core_v1.ServiceAccount) -> list[str]:
        if _ENFORCE not in (obj["metadata"].get("annotations") or ()):
            return []
        text = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        return [f"metadata.annotations[{_ENFORCE}]: {text}"]

    def warnings_on_update(self, ctx: Context, obj: core_v1.ServiceAccount, old: core_v1.ServiceAccount) -> list[str]:
        if _ENFORCE in (old["metadata"].get("annotations") or ()):
            return []
        return self.warnings_on_create(ctx, obj)


def _clean_references(account: core_v1.ServiceAccount) -> None:
    if "secrets" in account:
        account["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in account["secrets"]]


KINDS: Final = (
    Kind(
        "",
        "serviceaccounts",
        ServiceAccountStrategy(),
        columns=lambda ages: (NAME, ages.column),
    ),
)
