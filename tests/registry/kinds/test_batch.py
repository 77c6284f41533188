"""Jobs, cron jobs, schedules, index sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.cron import parse_schedule
from sampan.core.object import Object
from sampan.registry.kinds.batch.indexes import count_indexes, overlap
from tests.registry.kinds.cases import (
    CTX,
    Change,
    changed,
    check_idempotent,
    created,
    defaulted,
    faults,
    status_faults,
    strategy,
    update_faults,
)

JOBS = strategy("batch", "jobs")
CRON_JOBS = strategy("batch", "cronjobs")
POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "nginx"}]}
JOB: Object = {"metadata": {"name": "web", "uid": "u1"}, "spec": {"template": {"spec": POD}}}
CRON_JOB: Object = {
    "metadata": {"name": "web"},
    "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": {"spec": POD}}}},
}
INDEXED = {"spec/completionMode": "Indexed", "spec/completions": 5}
LABELS = {
    "batch.kubernetes.io/controller-uid": "u1",
    "batch.kubernetes.io/job-name": "web",
    "controller-uid": "u1",
    "job-name": "web",
}


def test_a_plain_job_is_valid() -> None:
    assert faults(JOBS, JOB) == []
    assert update_faults(JOBS, JOB, {"spec/parallelism": 3}) == []


def test_a_plain_cron_job_is_valid() -> None:
    assert faults(CRON_JOBS, CRON_JOB) == []
    assert update_faults(CRON_JOBS, CRON_JOB, {"spec/schedule": "@daily"}) == []


def test_defaults_are_idempotent() -> None:
    check_idempotent(JOBS.default, JOB)
    check_idempotent(CRON_JOBS.default, CRON_JOB)


@pytest.mark.parametrize(
    ("change", "spec"),
    [
        pytest.param(
            {},
            {
                "completions": 1,
                "parallelism": 1,
                "backoffLimit": 6,
                "completionMode": "NonIndexed",
                "suspend": False,
                "podReplacementPolicy": "TerminatingOrFailed",
                "manualSelector": False,
            },
            id="plain",
        ),
        pytest.param({"spec/backoffLimitPerIndex": 1}, {"backoffLimit": 2147483647}, id="limit per index"),
        pytest.param({"spec/podFailurePolicy": {"rules": []}}, {"podReplacementPolicy": "Failed"}, id="failure policy"),
    ],
)
def test_defaults_of_jobs(change: Change, spec: Object) -> None:
    found = defaulted(JOBS, changed(JOB, change))["spec"]
    assert {name: found[name] for name in spec} == spec


def test_a_job_with_parallelism_has_no_completions() -> None:
    assert "completions" not in defaulted(JOBS, changed(JOB, {"spec/parallelism": 2}))["spec"]


def test_a_job_without_labels_has_those_of_its_template() -> None:
    found = defaulted(JOBS, changed(JOB, {"spec/template/metadata/labels": {"a": "b"}}))
    assert found["metadata"]["labels"] == {"a": "b"}


def test_a_job_without_any_labels_has_those_that_its_template_gets() -> None:
    assert created(JOBS, JOB)["metadata"]["labels"] == LABELS


def test_a_job_gets_a_unique_selector() -> None:
    spec = created(JOBS, JOB)["spec"]
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}}
    assert spec["template"]["metadata"]["labels"] == LABELS


def test_a_manual_selector_is_left_alone() -> None:
    job = changed(
        JOB,
        {
            "spec/manualSelector": True,
            "spec/selector": {"matchLabels": {"a": "b"}},
            "spec/template/metadata/labels": {"a": "b"},
        },
    )
    assert created(JOBS, job)["spec"]["selector"] == {"matchLabels": {"a": "b"}}
    assert faults(JOBS, job) == []


RULE = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}
FAILURE_RULES = "spec.podFailurePolicy.rules[0]"

JOB_CASES: list[tuple[Change, list[str]]] = [
    ({"spec/parallelism": -1}, ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"]),
    (
        {"spec/template/spec/restartPolicy": "Always"},
        ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ),
    (
        {"spec/completionMode": "Other"},
        ['spec.completionMode: Unsupported value: "Other": supported values: "NonIndexed", "Indexed"'],
    ),
    (
        {"spec/completionMode": "Indexed", "spec/parallelism": 1},
        ["spec.completions: Required value: when completion mode is Indexed"],
    ),
    (
        {"spec/maxFailedIndexes": 1},
        [
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
        ],
    ),
    (
        {**INDEXED, "spec/backoffLimitPerIndex": 1, "spec/maxFailedIndexes": 6},
        ["spec.maxFailedIndexes: Invalid value: 6: must be less than or equal to completions"],
    ),
    (
        {"spec/managedBy": "me"},
        [
            'spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")',
        ],
    ),
    (
        {"spec/podReplacementPolicy": "Other"},
        ['spec.podReplacementPolicy: Unsupported value: "Other": supported values: "Failed", "TerminatingOrFailed"'],
    ),
    (
        {"spec/podFailurePolicy": {"rules": [{**RULE, "action": ""}]}},
        [f'{FAILURE_RULES}.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]'],
    ),
    (
        {"spec/podFailurePolicy": {"rules": [{"action": "FailIndex", "onExitCodes": RULE["onExitCodes"]}]}},
        [f'{FAILURE_RULES}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
    ),
    (
        {"spec/podFailurePolicy": {"rules": [{"action": "Count"}]}},
        [f"{FAILURE_RULES}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required"],
    ),
    (
        {
            "spec/podFailurePolicy": {
                "rules": [{"action": "Count", "onExitCodes": {"operator": "In", "values": [3, 0, 3]}}]
            }
        },
        [
            f"{FAILURE_RULES}.onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
            f"{FAILURE_RULES}.onExitCodes.values[2]: Duplicate value: 3",
            f"{FAILURE_RULES}.onExitCodes.values: Invalid value: [3,0,3]: must be ordered",
        ],
    ),
    (
        {"spec/successPolicy": {"rules": []}},
        ['spec.successPolicy: Invalid value: {"rules":[]}: requires indexed completion mode'],
    ),
    (
        {**INDEXED, "spec/successPolicy": {"rules": [{"succeededIndexes": "1-9"}]}},
        [
            'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1-9": '
            'error parsing succeededIndexes: too large index: "9"'
        ],
    ),
    (
        {**INDEXED, "spec/successPolicy": {"rules": [{"succeededIndexes": "1-2", "succeededCount": 3}]}},
        [
            "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 "
            "(the number of indexes in the specified succeededIndexes field)"
        ],
    ),
    (
        {"spec/selector": {"matchLabels": {"a": "b"}}, "spec/template/metadata/labels": {"a": "b"}},
        [
            'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"u1"}}: '
            "`selector` not auto-generated"
        ],
    ),
    (
        {"spec/template/metadata/labels": {"job-name": "other"}},
        [
            "spec.template.metadata.labels[job-name]: Invalid value: "
            '{"batch.kubernetes.io/controller-uid":"u1","batch.kubernetes.io/job-name":"web",'
            '"controller-uid":"u1","job-name":"other"}: must be \'web\''
        ],
    ),
    (
        {**INDEXED, "metadata/name": "a" * 63},
        [
            f'metadata.name: Invalid value: "{"a" * 63}": will not able to create pod with invalid DNS label: '
            f"{'a' * 63}-4"
        ],
    ),
]


@pytest.mark.parametrize(("change", "texts"), JOB_CASES, ids=[str(case[0])[:60] for case in JOB_CASES])
def test_a_broken_rule_of_jobs_is_reported(change: Change, texts: list[str]) -> None:
    assert faults(JOBS, changed(JOB, change)) == texts


IMAGE = {"spec/template/spec/containers/0/image": "other"}


def test_the_template_of_a_job_is_immutable() -> None:
    (text,) = update_faults(JOBS, JOB, IMAGE)
    assert text.startswith("spec.template: Invalid value: ")
    assert text.endswith("field is immutable")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"spec/template/spec/nodeSelector": {"a": "b"}}, id="node selector"),
        pytest.param({"spec/template/metadata/annotations": {"a": "b"}}, id="annotations"),
        pytest.param({"spec/template/spec/containers/0/resources": {"limits": {"cpu": "1"}}}, id="resources"),
    ],
)
def test_the_template_of_a_suspended_job_may_change(change: Change) -> None:
    suspended = changed(JOB, {"spec/suspend": True})
    assert update_faults(JOBS, suspended, change) == []
    assert len(update_faults(JOBS, JOB, change)) == 1


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        pytest.param({"spec/completions": 3}, ["spec.completions: Invalid value: 3: field is immutable"], id="plain"),
        pytest.param(
            {"spec/managedBy": "a.b/c"}, ['spec.managedBy: Invalid value: "a.b/c": field is immutable'], id="manager"
        ),
    ],
)
def test_most_fields_of_a_job_are_immutable(change: Change, texts: list[str]) -> None:
    assert update_faults(JOBS, JOB, change) == texts


def test_faults_of_a_spec_are_reported_twice_on_update() -> None:
    text = "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"
    assert update_faults(JOBS, JOB, {"spec/backoffLimit": -1}) == [text, text]


def test_an_indexed_job_grows_with_its_parallelism() -> None:
    job = changed(JOB, INDEXED)
    assert update_faults(JOBS, job, {"spec/completions": 7, "spec/parallelism": 7}) == []
    assert update_faults(JOBS, job, {"spec/completions": 7}) == [
        "spec.completions: Invalid value: 7: can only be modified in tandem with spec.parallelism"
    ]


def condition(*kinds: str) -> list[Object]:
    return [{"type": kind, "status": "True"} for kind in kinds]


STARTED = {"startTime": "2026-01-01T00:00:00Z"}
STATUS_CASES: list[tuple[str, Object, Object, list[str]]] = [
    ("running", {**STARTED, "active": 1, "ready": 1}, {}, []),
    (
        "complete",
        {
            **STARTED,
            "completionTime": "2026-01-01T00:01:00Z",
            "conditions": condition("SuccessCriteriaMet", "Complete"),
        },
        {},
        [],
    ),
    (
        "complete without time",
        {**STARTED, "conditions": condition("SuccessCriteriaMet", "Complete")},
        {},
        ["status.completionTime: Required value: completionTime is required for Complete jobs"],
    ),
    (
        "failed without target",
        {**STARTED, "conditions": condition("Failed")},
        {},
        ["status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition"],
    ),
    (
        "finished but active",
        {**STARTED, "active": 1, "conditions": condition("FailureTarget", "Failed")},
        {},
        ["status.active: Invalid value: 1: active>0 is invalid for finished job"],
    ),
    (
        "finished but never started",
        {"conditions": condition("FailureTarget", "Failed")},
        {},
        ["status.startTime: Required value: startTime is required for finished job"],
    ),
    (
        "fewer failures",
        {"failed": 1},
        {"failed": 2},
        ["status.failed: Invalid value: 1: cannot decrease the failed counter"],
    ),
    (
        "no longer failed",
        STARTED,
        {**STARTED, "conditions": condition("Failed")},
        ["status.conditions: Invalid value: cannot disable the terminal Failed=True condition"],
    ),
    (
        "more ready than active",
        {"ready": 2, "active": 1},
        {},
        ["status.ready: Invalid value: 2: cannot set more ready pods than active"],
    ),
    (
        "indexes of a job without",
        {"completedIndexes": "0"},
        {},
        [
            'status.completedIndexes: Invalid value: "0": '
            "cannot set non-empty completedIndexes when non-indexed completion mode"
        ],
    ),
    (
        "another start",
        {"startTime": "2026-01-01T00:00:09Z"},
        STARTED,
        ['status.startTime: Invalid value: "2026-01-01T00:00:09Z": field is immutable for unsuspended job once set'],
    ),
    (
        "a pod counted twice",
        {"uncountedTerminatedPods": {"succeeded": ["a", ""], "failed": ["a"]}},
        {},
        [
            'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
            'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
        ],
    ),
]


@pytest.mark.parametrize(
    ("status", "old", "texts"), [case[1:] for case in STATUS_CASES], ids=[case[0] for case in STATUS_CASES]
)
def test_the_status_of_a_job_is_consistent(status: Object, old: Object, texts: list[str]) -> None:
    assert status_faults(JOBS, JOB, status, old) == texts


CRON_CASES: list[tuple[Change, list[str]]] = [
    ({"spec/schedule": ""}, ["spec.schedule: Required value"]),
    (
        {"spec/schedule": "* * *"},
        ['spec.schedule: Invalid value: "* * *": expected exactly 5 fields, found 3: [* * *]'],
    ),
    (
        {"spec/schedule": "TZ=UTC * * * * *"},
        [
            'spec.schedule: Invalid value: "TZ=UTC * * * * *": '
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        ],
    ),
    ({"spec/timeZone": ""}, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']),
    ({"spec/timeZone": "../x"}, ['spec.timeZone: Invalid value: "../x": unknown time zone ../x']),
    ({"spec/timeZone": "Mars/Base"}, ['spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base']),
    (
        {"spec/timeZone": "Local"},
        [
            'spec.timeZone: Invalid value: "Local": '
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        ],
    ),
    (
        {"spec/concurrencyPolicy": "Other"},
        ['spec.concurrencyPolicy: Unsupported value: "Other": supported values: "Allow", "Forbid", "Replace"'],
    ),
    (
        {"spec/jobTemplate/spec/selector": {}},
        ["spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated"],
    ),
    (
        {"spec/failedJobsHistoryLimit": -1},
        ["spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0"],
    ),
    (
        {"metadata/name": "a" * 53},
        [f'metadata.name: Invalid value: "{"a" * 53}": must be no more than 52 characters'],
    ),
]


@pytest.mark.parametrize(("change", "texts"), CRON_CASES, ids=[str(case[0])[:60] for case in CRON_CASES])
def test_a_broken_rule_of_cron_jobs_is_reported(change: Change, texts: list[str]) -> None:
    assert faults(CRON_JOBS, changed(CRON_JOB, change)) == texts


def test_defaults_of_cron_jobs() -> None:
    spec = defaulted(CRON_JOBS, CRON_JOB)["spec"]
    names = ("concurrencyPolicy", "suspend", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    assert [spec[name] for name in names] == ["Allow", False, 3, 1]


def test_a_stored_time_zone_in_the_schedule_is_tolerated() -> None:
    cron_job = changed(CRON_JOB, {"spec/schedule": "TZ=UTC * * * * *"})
    assert update_faults(CRON_JOBS, cron_job, {"spec/suspend": True}) == []
    assert CRON_JOBS.warnings_on_update(CTX, created(CRON_JOBS, cron_job), created(CRON_JOBS, cron_job)) == [
        "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
        "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
    ]


def test_a_schedule_is_parsed() -> None:
    fields = parse_schedule("*/20 1-3 ? JAN,12 mon-wed").fields
    assert [sorted(each.values) for each in fields] == [
        [0, 20, 40],
        [1, 2, 3],
        list(range(1, 32)),
        [1, 12],
        [1, 2, 3],
    ]
    assert [each.star for each in fields] == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("text", "other"), [("@hourly", "0 * * * *"), ("@weekly", "0 0 * * 0"), ("@yearly", "0 0 1 1 *")]
)
def test_descriptors_are_short_for_fields(text: str, other: str) -> None:
    assert parse_schedule(text) == parse_schedule(other)


def test_a_time_zone_without_a_name_is_utc() -> None:
    assert parse_schedule("TZ= @daily").fields == parse_schedule("0 0 * * *").fields


def test_intervals_are_durations() -> None:
    assert parse_schedule("@every 1h30m").every_ns == 5400 * 10**9


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty spec string"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* 5-3 * * *", "beginning of range (5) beyond end of range (3): 5-3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("*/1/2 * * * *", "too many slashes: */1/2"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("*/-5 * * * *", "negative number (-5) not allowed: -5"),
        (
            "99999999999999999999 * * * *",
            "failed to parse int from 99999999999999999999: "
            'strconv.Atoi: parsing "99999999999999999999": value out of range',
        ),
        ("@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'),
        ("TZ=../etc/passwd * * * * *", "provided bad location ../etc/passwd: unknown time zone ../etc/passwd"),
        ("@never", "unrecognized descriptor: @never"),
        ("TZ=Mars * * * * *", "provided bad location Mars: unknown time zone Mars"),
        ("TZ=UTC", "a schedule must follow the time zone: TZ=UTC * * * * *"),
    ],
)
def test_an_invalid_schedule_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_schedule(text)
    assert str(error.value) == problem


SETS = st.sets(st.integers(0, 20))


def spelled(indexes: set[int]) -> str:
    return ",".join(map(str, sorted(indexes)))


@given(SETS)
def test_indexes_are_counted(indexes: set[int]) -> None:
    assert count_indexes(spelled(indexes), 21) == len(indexes)


@given(SETS, SETS)
def test_sets_overlap_where_an_index_is_in_both(one: set[int], other: set[int]) -> None:
    assert overlap(spelled(one), spelled(other), 21) == (min(one & other) if one & other else None)


def test_ranges_count_their_indexes() -> None:
    assert count_indexes("0-3,5,7-9", 10) == 8


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2,1", "non-increasing order, previous: 2, current: 1"),
        ("1-1", "non-increasing order, previous: 1, current: 1"),
        ("10", 'too large index: "10"'),
        ("x", 'cannot convert string to integer for index: "x"'),
    ],
)
def test_invalid_indexes_are_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}$"):
        count_indexes(text, 10)


def test_successes_are_selectable() -> None:
    assert JOBS.selectable_fields({"status": {"succeeded": 2}}) == {"status.successful": "2"}
    assert "status.successful" in JOBS.field_labels("batch/v1")


def test_jobs_orphan_their_pods_by_default() -> None:
    assert (JOBS.default_propagation, CRON_JOBS.default_propagation) == ("Orphan", "Background")
