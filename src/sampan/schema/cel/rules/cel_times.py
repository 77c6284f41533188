"""`CelTimes`: durations of CEL, for metrics. Source: apiserver pkg/cel/metrics/metrics.go (1.36)."""

from sampan.core.telemetry.durations import Durations


class CelTimes:
    """Durations, in seconds, of compiling the rules of a CRD version, and of evaluating the rules of an object."""

    def __init__(self) -> None:
        self.compilations = Durations()
        self.evaluations = Durations()
        self.compiled = self.compilations.observer(())
        self.evaluated = self.evaluations.observer(())
