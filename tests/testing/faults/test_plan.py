"""Plan files: one clear message for each mistake."""

from pathlib import Path

import pytest

from sampan.testing.faults import PlanError, read_plan

GOOD = """
version: 1
faults:
- name: lose the response
  which: {verbs: [create], resource: secrets, object: {spec.replicas: 2}}
  when: after
  what: {lostResponse: {}}
"""


def _read(tmp_path: Path, text: str) -> str:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    try:
        return ", ".join(fault.title for fault in read_plan(path).faults)
    except PlanError as error:
        return str(error).removeprefix(f"{path}: ")


def test_a_plan_file_is_read(tmp_path: Path) -> None:
    assert _read(tmp_path, GOOD) == "lose the response"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("version: 1", ""), "has no version, but this Sampan reads version 1: add `version: 1`"),
        (GOOD.replace("version: 1", "version: 9"), "has version 9, but this Sampan reads version 1"),
        ("version: 1\nfaults: []", "faults: required: a plan has at least one fault"),
        (GOOD.replace("when: after", "when: later"), "faults[0].when: Invalid enum value 'later'"),
        (GOOD.replace("verbs:", "verb:"), "faults[0].which: Object contains unknown field `verb`"),
        (GOOD.replace("lostResponse: {}", ""), "faults[0].what: set exactly one of error, latency"),
        (GOOD.replace("lostResponse: {}", "error: {code: 200}"), "faults[0].what.error.code: must be between"),
        (GOOD.replace("lostResponse: {}", "endStream: {}"), "faults[0].what.endStream: needs `which"),
        (GOOD.replace("faults:", "faults: [") + "]", "not YAML: "),
        ("- 1", "must be a mapping with version and faults"),
    ],
    ids=["no version", "new version", "empty", "when", "field", "no action", "code", "stream", "yaml", "list"],
)
def test_a_mistake_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert _read(tmp_path, text).startswith(message)


def test_no_file_is_read_without_a_bound(tmp_path: Path) -> None:
    assert _read(tmp_path, "#" * (1 << 20) + GOOD).startswith("a plan has at most")
