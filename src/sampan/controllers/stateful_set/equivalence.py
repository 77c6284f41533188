"""Equivalence of an older revision and the current template, if they differ only in defaults.

A later version of the API may have more defaults. Then the template has them and older revisions do not. That alone
must not replace Pods.
Source: kube-controller-manager pkg/controller/statefulset/stateful_set_control.go `setMatchesLatestExistingRevision`
(1.36). Kubernetes applies the defaults locally; here the server applies them in a dry run.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from sampan.client import ApiError, Client, StrategicMergePatch, WriteOptions
from sampan.component_base.resources import STATEFUL_SETS
from sampan.controllers.workloads.history import data_of, has_data
from sampan.kinds import apps_v1
from sampan.resource import meta

_CACHE_MAX: Final = 10_000


class Equivalences:
    """Compares revisions with the current template. Positive results are cached for each generation of a set."""

    def __init__(self, client: Client) -> None:
        self._sets = client.resource(STATEFUL_SETS, namespace="")
        self._equivalent: OrderedDict[str, tuple[int, str]] = OrderedDict()

    async def is_equivalent(self, revision: apps_v1.ControllerRevision, stateful_set: apps_v1.StatefulSet) -> bool:
        """Return True if a rollback to the revision would change nothing. Raises `TransportError`."""
        metadata = meta(stateful_set)
        key = (metadata.generation, meta(revision).resource_version)
        if self._equivalent.get(metadata.uid) == key:
            return True
        client = self._sets.in_namespace(metadata.namespace)
        patch = StrategicMergePatch({**revision["data"], "metadata": {"uid": metadata.uid}})
        try:
            restored = await client.patch(metadata.name, patch, WriteOptions(dry_run=True))
        except ApiError:
            return False
        restored_revision = {"data": data_of(restored["spec"]["template"])}
        if not has_data(restored_revision, data_of(stateful_set["spec"]["template"])):
            return False
        self._equivalent[metadata.uid] = key
        if len(self._equivalent) > _CACHE_MAX:
            self._equivalent.popitem(last=False)
        return True
