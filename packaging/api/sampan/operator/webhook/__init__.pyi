from dataclasses import dataclass, field

__all__ = [
    "AdmissionRequest",
    "AdmissionResponse",
    "allowed",
    "ApiServiceTarget",
    "Authenticated",
    "CaBundleInjector",
    "CertificateFiles",
    "CertificateSource",
    "CertificateStore",
    "CertificateTerms",
    "ConversionError",
    "ConversionTarget",
    "current_admission",
    "Defaulter",
    "Denied",
    "denied",
    "DirectoryStore",
    "errored",
    "Finding",
    "Findings",
    "Handler",
    "Hook",
    "HookKind",
    "HookOptions",
    "HubConversion",
    "InjectionTarget",
    "IssuedCertificates",
    "json_patch_between",
    "ManagedConfiguration",
    "one_after_the_other",
    "Operation",
    "patched",
    "refused",
    "SecretStore",
    "ServiceReference",
    "UserInfo",
    "Validator",
    "WebhookConfigurationTarget",
    "WebhookOptions",
    "WebhookServer",
]

class AdmissionRequest(msgspec.Struct, frozen=True, kw_only=True, rename='camel'):
    uid: str
    operation: Operation
    kind: Kind = Kind()
    resource: Resource = Resource()
    sub_resource: str = ''
    request_kind: Kind | None = None
    request_resource: Resource | None = None
    request_sub_resource: str = ''
    name: str = ''
    namespace: str = ''
    user_info: UserInfo = UserInfo()
    raw_object: msgspec.Raw = msgspec.field(default=NULL, name='object')
    raw_old_object: msgspec.Raw = msgspec.field(default=NULL, name='oldObject')
    dry_run: bool | None = False
    raw_options: msgspec.Raw = msgspec.field(default=NULL, name='options')

    @property
    def object(self) -> Object | None:
        ...

    @property
    def old_object(self) -> Object | None:
        ...

    @property
    def options(self) -> Object:
        ...

@dataclass(frozen=True, slots=True)
class AdmissionResponse:
    allowed: bool
    status: Mapping[str, Any] = field(default_factory=dict)
    patch: Sequence[Operation] = ()
    warnings: Sequence[str] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def code(self) -> int:
        ...

    def with_warnings(self, warnings: Iterable[str]) -> 'AdmissionResponse':
        ...

def allowed(message: str='') -> AdmissionResponse:
    ...

@dataclass(frozen=True, slots=True)
class ApiServiceTarget:
    name: str
    info = API_SERVICES

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        ...

@dataclass(frozen=True, slots=True)
class Authenticated:
    user: UserInfo
    audiences: Sequence[str] = ()

class CaBundleInjector:

    def __init__(self, client: Client, source: CertificateSource, targets: Sequence[InjectionTarget]) -> None:
        ...

    async def run(self) -> None:
        ...

    async def settled(self) -> None:
        ...

class CertificateFiles(CertificateSource):

    def __init__(self, directory: Path, *, certificate_name: str='tls.crt', key_name: str='tls.key', ca_name: str='ca.crt') -> None:
        ...

    def rights(self) -> list[Right]:
        ...

    @property
    def material(self) -> Material:
        ...

    async def ready(self) -> None:
        ...

    def listen(self, changed: Callable[[], None]) -> None:
        ...

    async def run(self) -> None:
        ...

    async def refresh(self) -> None:
        ...

class CertificateSource(ABC):

    def __init__(self) -> None:
        ...

    def rights(self) -> list[Right]:
        ...

    @property
    def material(self) -> Material:
        ...

    async def ready(self) -> None:
        ...

    def listen(self, changed: Callable[[], None]) -> None:
        ...

    @abstractmethod
    async def run(self) -> None:
        ...

    @abstractmethod
    async def refresh(self) -> None:
        ...

class CertificateStore(Protocol):

    async def load(self) -> Stored | None:
        ...

    async def save(self, files: Mapping[str, bytes], before: Stored | None) -> bool:
        ...

    async def watch(self, changed: Callable[[], None]) -> None:
        ...

@dataclass(frozen=True, slots=True)
class CertificateTerms:
    lifetime: datetime.timedelta = datetime.timedelta(days=90)
    renew_before: datetime.timedelta = datetime.timedelta(days=30)
    authority_lifetime: datetime.timedelta = datetime.timedelta(days=3650)
    authority_renew_before: datetime.timedelta = datetime.timedelta(days=365)
    overlap: datetime.timedelta = datetime.timedelta(hours=1)

class ConversionError(ValueError):
    ...

@dataclass(frozen=True, slots=True)
class ConversionTarget:
    name: str
    client_config: Mapping[str, Any] | None = None
    info = CRDS

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        ...

def current_admission() -> AdmissionRequest:
    ...

class Defaulter(Protocol[T]):

    def default(self, obj: T) -> Awaitable[T | None] | T | None:
        ...

class Denied(Exception):
    ...

def denied(message: str) -> AdmissionResponse:
    ...

class DirectoryStore:

    def __init__(self, directory: Path) -> None:
        ...

    async def load(self) -> Stored | None:
        ...

    async def save(self, files: Mapping[str, bytes], before: Stored | None) -> bool:
        ...

    async def watch(self, changed: Callable[[], None]) -> None:
        ...

def errored(code: int, message: str) -> AdmissionResponse:
    ...

Finding = FieldError | str

Findings = Iterable[Finding] | None

Handler = Callable[[AdmissionRequest], Awaitable[AdmissionResponse]]

@dataclass(frozen=True, slots=True)
class Hook:
    kind: HookKind
    info: ResourceInfo
    options: HookOptions = field(default_factory=HookOptions)

    @property
    def path(self) -> str:
        ...

    @property
    def name(self) -> str:
        ...

    def entry(self, client_config: Object) -> Object:
        ...

class HookKind(enum.Enum):
    MUTATING = 'MutatingWebhookConfiguration'
    VALIDATING = 'ValidatingWebhookConfiguration'

    @property
    def verb(self) -> str:
        ...

    @property
    def info(self) -> ResourceInfo:
        ...

class HookOptions(TypedDict, total=False):
    operations: Sequence[Operation]
    subresources: Sequence[str]
    failure_policy: str
    side_effects: str
    match_policy: str
    timeout_seconds: int
    namespace_selector: Mapping[str, Any]
    object_selector: Mapping[str, Any]
    match_conditions: Sequence[Mapping[str, str]]
    reinvocation_policy: str
    name: str
    path: str

class HubConversion(Generic[H]):

    def __init__(self, hub: type[H]) -> None:
        ...

    @property
    def group_kind(self) -> GroupKind:
        ...

    @property
    def crd_name(self) -> str:
        ...

    def to_hub(self, spoke: type[S]) -> Callable[[Callable[[S], H | Awaitable[H]]], Callable[[S], H | Awaitable[H]]]:
        ...

    def from_hub(self, spoke: type[S]) -> Callable[[Callable[[H], S | Awaitable[S]]], Callable[[H], S | Awaitable[S]]]:
        ...

    def check(self) -> None:
        ...

    async def convert(self, obj: Object, api_version: str) -> Object:
        ...

class InjectionTarget(Protocol):

    @property
    def info(self) -> ResourceInfo:
        ...

    @property
    def name(self) -> str:
        ...

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        ...

class IssuedCertificates(CertificateSource):

    def __init__(self, store: CertificateStore, hosts: Sequence[str], clock: Clock, terms: CertificateTerms=CertificateTerms()) -> None:
        ...

    def rights(self) -> list[Right]:
        ...

    @property
    def material(self) -> Material:
        ...

    async def ready(self) -> None:
        ...

    def listen(self, changed: Callable[[], None]) -> None:
        ...

    async def run(self) -> None:
        ...

    async def refresh(self) -> None:
        ...

    @property
    def store(self) -> CertificateStore:
        ...

def json_patch_between(before: Object, after: Object) -> list[Operation]:
    ...

@dataclass(frozen=True, slots=True)
class ManagedConfiguration:
    kind: HookKind
    configuration: Object

    @property
    def info(self) -> ResourceInfo:
        ...

    @property
    def name(self) -> str:
        ...

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        ...

def one_after_the_other(*handlers: Handler) -> Handler:
    ...

class Operation(enum.StrEnum):
    CREATE = 'CREATE'
    UPDATE = 'UPDATE'
    DELETE = 'DELETE'
    CONNECT = 'CONNECT'

def patched(before: Object, after: Object) -> AdmissionResponse:
    ...

def refused(error: StatusError) -> AdmissionResponse:
    ...

class SecretStore:

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        ...

    def rights(self) -> list[Right]:
        ...

    def empty(self) -> Object:
        ...

    async def load(self) -> Stored | None:
        ...

    async def save(self, files: Mapping[str, bytes], before: Stored | None) -> bool:
        ...

    async def watch(self, changed: Callable[[], None]) -> None:
        ...

@dataclass(frozen=True, slots=True)
class ServiceReference:
    namespace: str
    name: str
    port: int = 443

    @property
    def hosts(self) -> tuple[str, ...]:
        ...

class UserInfo(msgspec.Struct, frozen=True, omit_defaults=True):
    username: str = ''
    uid: str = ''
    groups: list[str] = []
    extra: dict[str, list[str]] = {}

class Validator(Generic[T_contra]):

    def on_create(self, obj: T_contra) -> Awaitable[Findings] | Findings:
        ...

    def on_update(self, old: T_contra, new: T_contra) -> Awaitable[Findings] | Findings:
        ...

    def on_delete(self, obj: T_contra) -> Awaitable[Findings] | Findings:
        ...

@dataclass(frozen=True, slots=True)
class WebhookConfigurationTarget:
    kind: HookKind
    name: str

    @property
    def info(self) -> ResourceInfo:
        ...

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        ...

@dataclass(frozen=True, slots=True)
class WebhookOptions:
    host: str = ''
    port: int = 9443
    service: ServiceReference | None = None
    url_host: str = '127.0.0.1'
    extra_hosts: tuple[str, ...] = ()
    terms: CertificateTerms = field(default_factory=CertificateTerms)
    inject_into: tuple[InjectionTarget, ...] = ()
    ensure_configurations: str = ''
    ensure_conversions: bool | None = None
    client_ca_file: Path | None = None
    request_timeout_s: float = 30.0
    connections_max: int = 1000

    @property
    def hosts(self) -> tuple[str, ...]:
        ...

    def client_config(self, path: str, port: int) -> Object:
        ...

class WebhookServer(Hooks):

    def __init__(self, manager: Manager, certificates: CertificateStore | CertificateSource, options: WebhookOptions=WebhookOptions()) -> None:
        ...

    @property
    def hooks(self) -> list[Hook]:
        ...

    def handler(self, path: str) -> Handler:
        ...

    @with_hook_options
    def mutating(self, what: Resource, **options: Unpack[HookOptions]) -> Callable[[Fn], Fn]:
        ...

    @with_hook_options
    def validating(self, what: Resource, **options: Unpack[HookOptions]) -> Callable[[Fn], Fn]:
        ...

    @with_hook_options
    def register_defaulter(self, what: type[T] | ObjectType[T] | ResourceInfo, defaulter: Defaulter[T] | Callable[[T], Awaitable[T | None] | T | None], **options: Unpack[HookOptions]) -> None:
        ...

    @with_hook_options
    def register_validator(self, what: type[T] | ObjectType[T] | ResourceInfo, validator: Validator[T], **options: Unpack[HookOptions]) -> None:
        ...

    @with_hook_options
    def register(self, kind: HookKind, info: ResourceInfo, handler: Handler, **options: Unpack[HookOptions]) -> None:
        ...
    needs_leader_election = False

    def targets(self) -> list[InjectionTarget]:
        ...

    def installed(self) -> list[Object]:
        ...

    def rights(self) -> list[Right]:
        ...

    def conversion(self, hub: type[H]) -> HubConversion[H]:
        ...

    def authenticating(self, path: str='/authenticate') -> Callable[[A], A]:
        ...

    @property
    def port(self) -> int:
        ...

    @property
    def disabled(self) -> bool:
        ...

    def check(self) -> None:
        ...

    async def ready(self) -> None:
        ...

    async def run(self) -> None:
        ...

    async def drain(self) -> None:
        ...

    async def respond(self, request: Request) -> Response:
        ...
    certificates = ...
