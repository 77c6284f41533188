"""`Checked`: a right that the server checked for a request of a test's cluster.

The server authorizes more than the verb of a request: `create` for an apply that creates its object, `escalate` for a
role, `update` of `*/finalizers` for an owner reference. So it reports what it checked.

Concurrency: a request is handled by a task that starts in the context of its sender, so a context variable leads there.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import NamedTuple

from sampan.server.authorization.authorizer import Decision, Verdict
from sampan.server.request import RequestInfo, UserInfo

_CURRENT: ContextVar[list["Checked"] | None] = ContextVar("sampan_checked_rights", default=None)


class Checked(NamedTuple):
    """Right that the server has checked, for a user or a group, with the verdict."""

    user: str
    group: str
    resource: str
    """Resource with its subresource, or the path of a request without a resource."""
    verb: str
    namespace: str
    name: str
    is_allowed: bool


@contextmanager
def rights_checked() -> Iterator[list[Checked]]:
    """Collect the checks for requests that are sent in this block."""
    found: list[Checked] = []
    token = _CURRENT.set(found)
    try:
        yield found
    finally:
        # A coroutine that is never finished ends in the context of the garbage collector.
        with suppress(ValueError):
            _CURRENT.reset(token)


def note_authorization(user: UserInfo, info: RequestInfo, verdict: Verdict) -> None:
    """Record the verdict for a request of the test that runs, if its rights are checked."""
    found = _CURRENT.get()
    if found is None:
        return
    resource = f"{info.resource}/{info.subresource}".rstrip("/") if info.is_resource else info.path
    is_allowed = verdict.decision is Decision.ALLOW
    found.append(Checked(user.name, info.group, resource, info.verb, info.namespace, info.name, is_allowed))
