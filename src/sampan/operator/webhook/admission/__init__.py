"""Admission: complete and check objects before they are stored."""

from sampan.operator.webhook.admission.endpoint import AdmissionEndpoint
from sampan.operator.webhook.admission.handlers import (
    Defaulter,
    Finding,
    Findings,
    FunctionValidator,
    Handler,
    Validator,
    mutating_handler,
    one_after_the_other,
    validating_handler,
)
from sampan.operator.webhook.admission.json_diff import json_patch_between
from sampan.operator.webhook.admission.request import AdmissionRequest, Operation, UserInfo, current_admission
from sampan.operator.webhook.admission.response import (
    AdmissionResponse,
    Denied,
    allowed,
    denied,
    errored,
    patched,
    refused,
)

__all__ = [
    "AdmissionEndpoint",
    "AdmissionRequest",
    "AdmissionResponse",
    "Defaulter",
    "Denied",
    "Finding",
    "Findings",
    "FunctionValidator",
    "Handler",
    "Operation",
    "UserInfo",
    "Validator",
    "allowed",
    "current_admission",
    "denied",
    "errored",
    "json_patch_between",
    "mutating_handler",
    "one_after_the_other",
    "patched",
    "refused",
    "validating_handler",
]
