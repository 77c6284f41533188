"""Handler of traced requests: authorization and response. See docs/adr/0014-traces-of-requests.md."""

from dataclasses import replace
from typing import Any, Final

import msgspec
import orjson

from sampan.core.errors import StatusError, bad_request, unauthorized
from sampan.server.admission.chain import AdmissionChain
from sampan.server.authorization.authorizer import Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.request import Request, Response
from sampan.server.status import json_response
from sampan.server.trace.recorder import Recorder
from sampan.server.verbs.create import create
from sampan.server.verbs.patch import patch
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.update import update

PARAMETER: Final = "sampan.dev/trace"
"""Query parameter that requests a trace in place of the object."""

VERB: Final = "trace"
"""Verb that the user needs for the resource, besides that of the write, because a trace shows the effects of policies.
"""

_VERBS: Final = {"create": create, "update": update, "patch": patch}
_SUBRESOURCES: Final = ("", "status")


async def traced(scope: RequestScope) -> Response:
    """Return 200 with the `RequestTrace` of a dry-run write, even if the write is refused.

    Raises 400 if the request cannot be traced, 401 or 403 if the user is not authorized.
    """
    request = scope.request
    verb = _VERBS.get(request.info.verb)
    if verb is None or request.info.subresource not in _SUBRESOURCES:
        raise bad_request("only create, update and patch of an object or its status can be traced")
    if request.wire.query.get("dryRun") != ["All"]:
        raise bad_request("only a dry run can be traced: dryRun=All is required")
    await _check_allowed(scope)
    recorder = Recorder(request=request)
    request.headers = {**request.headers, "accept": "application/json"}
    # Traced requests get a separate chain: a trace also shows plug-ins without effect, and does not count in metrics.
    chain = AdmissionChain(scope.admission.plugins)
    try:
        response = await verb(msgspec.structs.replace(scope, admission=chain, observer=recorder))
    except StatusError as error:
        if not any(step.error for step in recorder.steps):
            recorder.end("refused", error.message)
        return json_response(_document(request, recorder, error.code, status=error.to_status()))
    recorder.end("store", "dry run: encoded, not written")
    obj = orjson.loads(response.body) if response.body else None
    return json_response(_document(request, recorder, response.status, object=obj))


async def _check_allowed(scope: RequestScope) -> None:
    request = scope.request
    if request.user is None:
        raise unauthorized()
    info = replace(request.info, verb=VERB)
    verdict = await scope.shared.authorizer.authorize(request.user, info)
    if verdict.decision is not Decision.ALLOW:
        raise forbidden_error(request.user, info, verdict.reason)


def _document(request: Request, recorder: Recorder, code: int, **more: Any) -> dict[str, Any]:
    """Return the trace. `object` is the object that would be stored; `status` is the error of a refused write."""
    assert request.user is not None
    return {
        "kind": "RequestTrace",
        "apiVersion": "sampan.dev/v1alpha1",
        "request": {"method": request.wire.method, "path": request.wire.path},
        "user": {"username": request.user.name, "groups": list(request.user.groups)},
        "code": code,
        "tookMicroseconds": round(recorder.total_s * 1e6, 1),
        "steps": [step.document() for step in recorder.steps],
        **more,
    }
