"""The public names of `sampan.client`, and the cost of its import."""

import subprocess
import sys

import sampan.client

HEAVY = {
    "aiohttp",
    "cel_expr_python",
    "click",
    "cryptography",
    "google",
    "prometheus_client",
    "re2",
    "rich",
    "sampan.generate",
    "sampan.registry",
    "sampan.schema",
    "sampan.server",
    "sampan.storage",
    "sampan.wire.protobuf",
    "sortedcontainers",
    "uvloop",
}

LIST_OF_NAMES = """
AlreadyExists ApiError ApplyDiff ApplyPatch Backoff BadRequest BlockingClient BlockingResourceClient Client ClientError
Condition
Config ConfigError ConfigOverrides Conflict CredentialError DeleteOptions Discovered Expired Forbidden HttpRequest
HttpResponse Impersonation InternalError Invalid JsonPatch ListOptions ListWatch MergePatch MethodNotAllowed NoMatch
NotAcceptable NotFound ObjectList OperationResult PartialObjectMetadata Patch RESTClient RESTMapper RawEvent RawList
RequestEntityTooLarge ResourceClient ResourceName RetryPolicy Scale ServerError ServerTimeout ServiceUnavailable
StrategicMergePatch SubresourceClient Timeout TooManyRequests Transport TransportError TransportTimeout Unauthorized
Undecodable Undecoded UnsupportedMediaType WaitTimeout WatchEvent WriteOptions
CONFLICT_BACKOFF SLOW_CONFLICT_BACKOFF
all_of any_of api_error applied_fields condition_is connect connect_transport create_or_patch create_or_update deleted
discover exists generation_observed guarded in_cluster_config json_path list_all list_pages load_config
merge_patch_between not_ retry_on_conflict upgrade_managed_fields wait_for
"""


def test_the_public_names_are_these() -> None:
    assert sorted(sampan.client.__all__) == sorted(LIST_OF_NAMES.split())


def test_every_public_name_is_there_and_documented() -> None:
    found = {name: getattr(sampan.client, name) for name in sampan.client.__all__}
    undocumented = [name for name, each in found.items() if callable(each) and not each.__doc__]
    assert undocumented == []


def test_its_import_loads_nothing_heavy() -> None:
    program = "import sys, sampan.client; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in loaded if any(f"{name}.".startswith(f"{heavy}.") for heavy in HEAVY)} == set()
