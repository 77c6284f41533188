"""`OperatorRequests`: the part of a cluster about the requests of its operators: their rights and warnings."""

from sampan.testing.operators.failures import OperatorFailed
from sampan.testing.operators.running import Running
from sampan.testing.requests import Requests
from sampan.testing.rights.privileges import Privileges, privileges_of, words


class OperatorRequests:
    """Rights and warnings of the operators of a cluster. `Cluster` is its only subclass."""

    _running: list[Running]

    @property
    def requests(self) -> Requests:
        """All requests so far."""
        raise NotImplementedError

    @property
    def operators(self) -> list[str]:
        """Names of the operators that `run` has started."""
        return list(dict.fromkeys(each.name for each in self._running))

    def privileges(self, actor: str = "operator") -> Privileges:
        """Return the rights that an actor used and those that were denied; `role` makes a ClusterRole of them."""
        return privileges_of(self.requests.by(actor))

    def check_rights(self) -> None:
        """Raise `OperatorFailed` if an operator lacked a right."""
        for name in self.operators:
            if refused := self.privileges(name).refused:
                raise OperatorFailed(f"{name}: lacks the right to {', '.join(map(words, sorted(refused)))}")

    def warnings(self) -> list[str]:
        """Return the requests of operators to which the server responded with a warning, each once, as text."""
        names = self.operators
        return list(dict.fromkeys(str(each) for each in self.requests.warned if each.actor in names))
