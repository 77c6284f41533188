"""`ClusterOperators`: the operators that `Cluster.run` started: their errors, reconciles, rights and warnings."""

from collections.abc import Sequence

from sampan.testing.operators.failures import OperatorFailed
from sampan.testing.operators.running import ReconcileRecord, Running
from sampan.testing.requests import InterceptorChain
from sampan.testing.rights.privileges import Privileges, privileges_of, words


class ClusterOperators:
    """Operators of one cluster. `Cluster` has the same methods."""

    def __init__(self, running: Sequence[Running], gate: InterceptorChain) -> None:
        """`running` has all operators in the order of their start. `gate` records their requests."""
        self.running = running
        self._gate = gate

    @property
    def names(self) -> list[str]:
        """Names of the operators, each once."""
        return list(dict.fromkeys(each.name for each in self.running))

    @property
    def reconciles(self) -> list[ReconcileRecord]:
        """Reconciles of all operators, oldest first."""
        found = [each for running in self.running for each in running.reconciles]
        return sorted(found, key=lambda each: each.at_s)

    async def stop(self) -> None:
        """Stop all operators gracefully."""
        for running in self.running:
            await running.stop()

    def check(self) -> None:
        """Raise the error of an operator that has ended with one."""
        for running in self.running:
            running.check()

    def check_reconciles(self) -> None:
        """Raise `OperatorFailed` if a reconcile raised, unless that is allowed."""
        for running in self.running:
            running.failures.check(running.name)

    def privileges(self, actor: str) -> Privileges:
        """Return the rights that an actor used, and those that were denied."""
        return privileges_of(self._gate.requests.by(actor))

    def check_rights(self) -> None:
        """Raise `OperatorFailed` if an operator lacked a right."""
        for name in self.names:
            if refused := self.privileges(name).refused:
                raise OperatorFailed(f"{name}: lacks the right to {', '.join(map(words, sorted(refused)))}")

    def warnings(self) -> list[str]:
        """Return the requests of operators to which the server responded with a warning, each once, as text."""
        names = self.names
        return list(dict.fromkeys(str(each) for each in self._gate.requests.warned if each.actor in names))
