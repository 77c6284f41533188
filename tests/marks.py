"""Marks of slow tests, by file: `make test` runs the part `fast` without them, `make test-rest` the part `rest`.

`tests/style/test_marks.py` finds files that start processes and are absent here.
"""

from collections.abc import Iterable
from fnmatch import fnmatch
from typing import Final

MARKS: Final[dict[str, tuple[str, ...]]] = {
    # With kubectl, clients in other languages, and containers.
    "e2e": ("e2e/*", "journeys/*"),
    # Many runs of one scenario, and many random requests.
    "explore": (
        "server/fuzz/*",
        "testing/explore/*",
        "testing/campaign/test_campaign.py",
        "testing/own_loops/*",
        "testing/plugin/test_reports.py",
        "testing/plugin/test_six_steps.py",
        "testing/test_broken_operators.py",
    ),
    # With processes: servers, control loops, etcd, commands, nodes. And what takes as long: the whole site, and tests
    # that run other tests.
    "process": (
        "app/test_free_memory.py",
        "app/nodes/test_leave.py",
        "app/test_listen.py",
        "attack/*",
        "benchmarks/*",
        "blocks/test_commands.py",
        "blocks/test_update.py",
        "cli/kubectl/*",
        "cli/objects/*",
        "cli/plugins/*",
        "cli/test_authentication.py",
        "cli/test_commands.py",
        "cli/test_configuration_guide.py",
        "cli/test_entry.py",
        "cli/test_join.py",
        "cli/test_loops.py",
        "cli/test_names.py",
        "cli/test_roles.py",
        "cli/test_running_guide.py",
        "cli/test_signals.py",
        "cli/test_snapshot.py",
        "cli/test_status.py",
        "cli/test_storage*.py",
        "cli/test_up*.py",
        "client/test_e2e_client.py",
        "client/transports/test_exec_plugin.py",
        "*/test_public_names.py",
        "core/operating_system/test_child_process.py",
        "csi/*",
        "dashboard/*",
        "dashboard_proxy/test_command.py",
        "examples/*",
        "generate/test_clients.py",
        "generate/test_models.py",
        "kinds/test_type_checks.py",
        "machines/*",
        "node/cri/*",
        "node/csi/*",
        "node/process/*",
        "node/races/*",
        "node/server/*",
        "node/test_local_path.py",
        "node/test_private_volumes.py",
        "node/test_process_pods.py",
        "operator/clusters/test_page.py",
        "operator/process/test_main.py",
        "packaging/*",
        "project/charts/test_monitoring.py",
        "project/image/test_build.py",
        "project/test_checks.py",
        "project/test_ci.py",
        "project/test_create_parts.py",
        "project/test_run_inspection.py",
        "project/test_tests.py",
        "project/test_upgrade.py",
        "reading/test_experiments.py",
        "recipes/*",
        "robustness/*",
        "schema/cel/test_against_cel_go.py",
        "schema/regex/test_engines.py",
        "site/*",
        "storage/etcd/*",
        "storage/snapshot/test_documented.py",
        "storage/test_crash.py",
        "storage/test_sqlite_faults.py",
        "testing/generated/test_guide.py",
        "testing/plugin/test_import.py",
        "testing/plugin/test_kopf_guide.py",
        "testing/plugin/test_misuse.py",
        "testing/plugin/test_plugin.py",
        "testing/plugin/test_roles_of_a_project.py",
        "testing/plugin/test_tutorial.py",
        "symptoms/*",
        "test_server/*",
        "translations/test_command.py",
    ),
}

ETCD: Final = ("server/history/test_history*.py", "storage/test_cache*.py", "storage/test_contract_*.py")
"""Files without a mark that run their tests on every engine: those with a real etcd get the mark `process`."""
PARTS: Final = ("fast", "rest")


def in_part(file: str, part: str) -> bool:
    """Return whether a file has tests of a part, so that it must be imported; without a part, all files have."""
    if not part or matches(file, ETCD):
        return True
    return bool(marks_of(file)) == (part == "rest")


def matches(file: str, patterns: Iterable[str]) -> bool:
    """Return whether the path of a file below `tests/` matches a pattern."""
    return any(fnmatch(file, pattern) for pattern in patterns)


def marks_of(file: str) -> list[str]:
    """Return the marks of a file; its path is below `tests/`."""
    return [mark for mark, patterns in MARKS.items() if matches(file, patterns)]
