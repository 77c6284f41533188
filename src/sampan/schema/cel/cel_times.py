"""`CelTimes`: how long CEL takes, for metrics. Source: apiserver pkg/cel/metrics/metrics.go (1.36)."""

from sampan.core.durations import Durations


class CelTimes:
    """Of the rules of CRDs: how long those of a version took to compile, and those of an object to evaluate."""

    def __init__(self) -> None:
        self.compilations = Durations()
        self.evaluations = Durations()
        self.compiled = self.compilations.observer(())
        self.evaluated = self.evaluations.observer(())
