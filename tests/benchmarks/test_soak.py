"""The soak runs, and fails if anything grows."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from benchmarks.soak.__main__ import judged, main, options_of, soak
from benchmarks.soak.processes import Cluster
from benchmarks.soak.verdict import MEASURES, SAMPLES_MIN, Sample, growth

CALM = Sample(memory_mb=100.0, descriptors=100, tasks=200, idle_percent=0.5)


def failed(samples: list[Sample]) -> list[str]:
    """The measures that have grown."""
    return [each.measure.field for each in growth("server", samples) if each.failed]


def growing(measure: str, by: float) -> list[Sample]:
    """Twelve samples of which one measure grows by so much from each to the next."""
    kind = type(getattr(CALM, measure))
    changes: list[dict[str, Any]] = [{measure: kind(getattr(CALM, measure) + by * number)} for number in range(12)]
    return [replace(CALM, **change) for change in changes]


def test_a_process_that_stays_as_it_is_passes() -> None:
    assert failed([CALM] * 12) == []


@pytest.mark.parametrize(
    ("measure", "by"), [("memory_mb", 2.0), ("descriptors", 2), ("tasks", 4), ("idle_percent", 0.5)]
)
def test_a_measure_that_grows_fails(measure: str, by: float) -> None:
    assert failed(growing(measure, by)) == [measure]


@pytest.mark.parametrize("measure", [measure.field for measure in MEASURES])
def test_growth_within_the_slack_passes(measure: str) -> None:
    slack = next(each.slack for each in MEASURES if each.field == measure)
    assert failed(growing(measure, slack / 12)) == []


def test_growth_in_the_first_half_does_not_count() -> None:
    assert failed([replace(CALM, memory_mb=60.0 + 8 * min(number, 5)) for number in range(12)]) == []


def test_one_high_sample_does_not_count() -> None:
    assert failed([CALM] * 11 + [replace(CALM, memory_mb=300.0)]) == []


def test_too_few_samples_are_not_judged() -> None:
    with pytest.raises(ValueError, match="too few to judge"):
        growth("server", [CALM] * (SAMPLES_MIN - 1))


@pytest.mark.parametrize(
    "arguments", [["--rest", "60"], ["--minutes", "11"]], ids=["nothing but rest", "too short to judge"]
)
def test_options_that_make_no_sense_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        options_of(arguments)


@dataclass
class Leak:
    """A process whose memory grows by 3 MB a minute."""

    name: str = "leak"
    minutes: int = 0

    def processor_s(self) -> float:
        return 0.0

    def sample(self, idle_percent: float) -> Sample:
        self.minutes += 1
        return replace(CALM, memory_mb=100.0 + 3.0 * self.minutes, idle_percent=idle_percent)


@dataclass
class NoLoad:
    """Records the durations for which it had to work."""

    rounds: int = 0
    errors: int = 0
    last_error: str = ""
    seconds: list[float] = field(default_factory=list)

    async def run(self, seconds: float, pause_s: float, cycles_max: int) -> None:
        self.seconds.append(seconds)


async def test_the_harness_fails_on_a_leak(capsys: pytest.CaptureFixture[str]) -> None:
    options = options_of(["--minutes", "0.02", "--minute", "0.1", "--rest", "0.03"])
    load: Any = NoLoad()
    leak: Any = Leak()
    cluster = Cluster(server=Any, watched=[leak])  # type: ignore[arg-type]  # nothing is asked of it
    verdict = judged(await soak(options, cluster, load))
    assert [each.measure.field for each in verdict if each.failed] == ["memory_mb"]
    assert "FAILED" in str(verdict[0])
    assert load.seconds == [pytest.approx(0.07)] * 12
    assert capsys.readouterr().err.count("leak") == 12


@pytest.mark.timeout(300)
def test_a_short_soak_of_the_real_processes_runs_without_errors(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--minutes", "0.3", "--minute", "1.5", "--rest", "0.5", "--pause", "0", "--connections", "4"]
    assert main(arguments) in (0, 1)  # so short a run shows how caches fill
    reported = capsys.readouterr()
    assert "requests failed" not in reported.out
    for process in ("server", "loops", "nodes"):
        assert reported.err.count(f"{process} ") >= 12
        assert reported.out.count(process) == len(MEASURES)
