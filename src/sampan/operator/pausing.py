"""Annotations with which users pause the reconciliation of one object, resume it, or request a reconcile now.

    kubectl annotate boats ada operator.sampan.dev/reconcile-paused=true
    kubectl annotate boats ada operator.sampan.dev/reconcile-paused-
    kubectl annotate --overwrite boats ada operator.sampan.dev/reconcile-requested-at="$(date +%s)"

The state is in the object, so a restart of the operator keeps it. A paused object is not reconciled at all, also while
it is deleted: its finalizers then hold the deletion.

Source: cluster-api api/core/v1beta2/common_types.go `cluster.x-k8s.io/paused` (1.11), for deletions of paused objects.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from sampan.informer.ref import Ref
from sampan.operator.queue import Cause, CauseOrigin
from sampan.operator.request import Request

PAUSED: Final = "operator.sampan.dev/reconcile-paused"
"""Any value but `false` and the empty one pauses the object. The dashboard writes the time, and in the annotation
`operator.sampan.dev/reconcile-paused-by` the user.
"""
REQUESTED: Final = "operator.sampan.dev/reconcile-requested-at"
"""Each new value requests one reconcile."""
_BEGINNING: Final = b'"operator.sampan.dev/reconcile-'


def is_paused(ref: Ref[Any]) -> bool:
    """Return True if an object must not be reconciled."""
    # Most objects have no such annotation. A search in the bytes is much faster than decoding.
    return _BEGINNING in ref.raw and ref.annotations.get(PAUSED, "") not in ("", "false")


def pause_of(finds: Sequence[Callable[[str], Ref[Any] | None]]) -> Callable[[Request], bool]:
    """Return a function that returns True for a request whose object is paused.

    `finds` return an object by its key, one for each kind that requests may name.
    """

    def paused(request: Request) -> bool:
        key = request.key
        return any((ref := find(key)) is not None and is_paused(ref) for find in finds)

    return paused


def cause_of(old: Ref[Any], new: Ref[Any], origin: CauseOrigin) -> Cause | None:
    """Return the cause for which a user has queued an object by a change of the annotations; None if there is none.

    An object that is paused now is queued, too: its controller then reports it as paused. The cause has no predicates,
    because the change does not need to pass them.
    """
    if old.raw is new.raw or (_BEGINNING not in old.raw and _BEGINNING not in new.raw):
        return None
    pauses, paused = is_paused(new), is_paused(old)
    requested = new.annotations.get(REQUESTED, "")
    if pauses and not paused:
        event = "pause"
    elif paused and not pauses:
        event = "resume"
    elif not pauses and requested and requested != old.annotations.get(REQUESTED):
        event = "request"
    else:
        return None
    return Cause(event, origin._replace(predicates=()), new.key, new.resource_version)
