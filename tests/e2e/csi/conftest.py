"""One machine with a server, a node with containerd, and a driver."""

from tests.e2e.cri.conftest import cluster

__all__ = ["cluster"]
