"""The count of calls of a write."""

import pytest
from benchmarks.write_calls import main


def test_each_write_is_counted_and_an_unchanged_apply_runs_less_than_a_changed_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["--requests", "1", "--functions", "1"])
    shown = capsys.readouterr().out.splitlines()
    calls = {line[:18].strip(): int(line[18:25]) for line in shown[1:] if not line.startswith(" ")}
    assert list(calls) == ["create", "put", "apply, changed", "apply, unchanged"]
    assert calls["create"] < calls["apply, unchanged"] < calls["apply, changed"]
