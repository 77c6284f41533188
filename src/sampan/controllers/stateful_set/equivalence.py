"""Whether an older revision means the same as the template of today, though it says less.

A later version of the API may have more defaults: the template has them then, revisions of before do not, and that is
no reason to replace Pods.
Source: kube-controller-manager pkg/controller/statefulset/stateful_set_control.go `setMatchesLatestExistingRevision`
(1.36), which knows the defaults itself; here the server is asked by a dry run.
"""

from collections import OrderedDict
from typing import Final

from sampan.client import ApiError, Client, StrategicMergePatch, WriteOptions
from sampan.controllers.history import data_of, says_same
from sampan.loops.resources import STATEFUL_SETS
from sampan.resource import Object, meta

_KNOWN_MAX: Final = 10_000


class Equivalences:
    """Asks once for each generation of a set, and remembers where the answer was yes."""

    def __init__(self, client: Client) -> None:
        self._sets = client.resource(STATEFUL_SETS, namespace="")
        self._known: OrderedDict[str, tuple[int, str]] = OrderedDict()

    async def means_same(self, revision: Object, stateful_set: Object) -> bool:
        """Whether to go back to the revision would change nothing. Raises `TransportError`."""
        metadata = meta(stateful_set)
        asked = (metadata.generation, meta(revision).resource_version)
        if self._known.get(metadata.uid) == asked:
            return True
        client = self._sets.in_namespace(metadata.namespace)
        patch = StrategicMergePatch({**revision["data"], "metadata": {"uid": metadata.uid}})
        try:
            restored = await client.patch(metadata.name, patch, WriteOptions(dry_run=True))
        except ApiError:
            return False
        said = {"data": data_of(restored["spec"]["template"])}
        if not says_same(said, data_of(stateful_set["spec"]["template"])):
            return False
        self._known[metadata.uid] = asked
        if len(self._known) > _KNOWN_MAX:
            self._known.popitem(last=False)
        return True
