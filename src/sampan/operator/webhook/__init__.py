"""The webhook server of an operator: admission (mutating, validating) and conversion, with managed certificates.

    async with connect() as client:
        manager = Manager(client)
        webhooks = WebhookServer(manager, SecretStore(client, "net", "net-webhook"), WebhookOptions(service=…))

        @webhooks.validating(Network)
        def check(new: Network, old: Network | None) -> Findings: ...

        await manager.run(handle_signals=True)

It is not part of `sampan.operator`, because certificates need a library that takes long to import.
"""

from sampan.operator.service_reference import ServiceReference
from sampan.operator.webhook.admission import (
    AdmissionRequest,
    AdmissionResponse,
    Defaulter,
    Denied,
    Finding,
    Findings,
    Handler,
    Operation,
    UserInfo,
    Validator,
    allowed,
    current_admission,
    denied,
    errored,
    json_patch_between,
    one_after_the_other,
    patched,
    refused,
)
from sampan.operator.webhook.certificates import (
    CertificateFiles,
    CertificateSource,
    CertificateStore,
    CertificateTerms,
    DirectoryStore,
    IssuedCertificates,
    SecretStore,
)
from sampan.operator.webhook.conversion import ConversionError, HubConversion
from sampan.operator.webhook.hook import Hook, HookKind, HookOptions
from sampan.operator.webhook.injector import CaBundleInjector
from sampan.operator.webhook.options import WebhookOptions
from sampan.operator.webhook.server import WebhookServer
from sampan.operator.webhook.targets import (
    ApiServiceTarget,
    ConversionTarget,
    InjectionTarget,
    ManagedConfiguration,
    WebhookConfigurationTarget,
)
from sampan.operator.webhook.token_review import Authenticated

__all__ = [
    "AdmissionRequest",
    "AdmissionResponse",
    "ApiServiceTarget",
    "Authenticated",
    "CaBundleInjector",
    "CertificateFiles",
    "CertificateSource",
    "CertificateStore",
    "CertificateTerms",
    "ConversionError",
    "ConversionTarget",
    "Defaulter",
    "Denied",
    "DirectoryStore",
    "Finding",
    "Findings",
    "Handler",
    "Hook",
    "HookKind",
    "HookOptions",
    "HubConversion",
    "InjectionTarget",
    "IssuedCertificates",
    "ManagedConfiguration",
    "Operation",
    "SecretStore",
    "ServiceReference",
    "UserInfo",
    "Validator",
    "WebhookConfigurationTarget",
    "WebhookOptions",
    "WebhookServer",
    "allowed",
    "current_admission",
    "denied",
    "errored",
    "json_patch_between",
    "one_after_the_other",
    "patched",
    "refused",
]
