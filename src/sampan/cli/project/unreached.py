"""`hint_of`: the next step after an error of a cluster."""

from sampan.client import TransportError


def hint_of(error: Exception, *, options: str = "KUBECONFIG chooses") -> str:
    """Return the next step if a cluster could not be reached, to follow the error."""
    unreached = isinstance(error, TransportError) and not error.sent
    return f"; is the cluster running? {options} another one" if unreached else ""
