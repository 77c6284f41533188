"""Public names of `sampan.informer`, which imports nothing heavy."""

import subprocess
import sys

import sampan.informer

LIST_OF_NAMES = """
Batch DeletedFinalStateUnknown Deletion Delta DeltaFIFO DeltaType EventHandler EventHandlerFuncs FilteringEventHandler
GroupRegistration InOrderQueue IndexFailed IndexFunction Indexer Informer InformerGroup InformerMetrics
InformerRegistration InformerSettings InformerStopped InformerStore Lister NAMESPACE_INDEX NamespaceLister Queue
ReadableStore Ref RefReader Reflector ReflectorSettings ReflectorStore Registration Scope SharedInformer
SharedInformerFactory Syncable Transform TransformError UnreadableObject WatchErrorHandler WatchFailure join_key
last_known log_watch_error split_key strip_fields strip_managed_fields transform_objects wait_for_cache_sync
"""

HEAVY = {"click", "prometheus_client", "rich", "sampan.server", "sampan.registry", "sampan.storage", "sampan.schema"}


def test_the_public_names_are_these() -> None:
    assert set(sampan.informer.__all__) == set(LIST_OF_NAMES.split())
    assert all(hasattr(sampan.informer, name) for name in sampan.informer.__all__)


def test_nothing_heavy_is_imported() -> None:
    program = "import sys, sampan.informer; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert HEAVY & set(loaded) == set()
