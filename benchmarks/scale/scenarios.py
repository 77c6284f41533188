"""Scenarios: starts on full stores, and gets from one server and from two."""

from benchmarks.scenarios import Scenario

START_GOAL_S = 15.0
KINDS = ("sqlite", "etcd", "kubernetes")
"""Kinds of stores: SQLite; etcd; etcd with the values of kube-apiserver (protobuf)."""
_TITLES = {"sqlite": "SQLite", "etcd": "etcd", "kubernetes": "etcd, values as of kube-apiserver"}


def start(kind: str) -> Scenario:
    """Return the scenario of a start: seconds from the command to `ready`."""
    title = f"start: {_TITLES[kind]}"
    return Scenario(f"start-{kind}", title, None, 0, START_GOAL_S, unit=" s", lower_is_better=True)


def memory(kind: str) -> Scenario:
    """Return the scenario of the server's memory for one object."""
    return Scenario(f"memory-{kind}", f"memory of an object: {_TITLES[kind]}", None, unit=" kB", lower_is_better=True)


def gets(servers: int) -> Scenario:
    """Return the scenario of gets from `servers` servers together."""
    return Scenario(f"get-{servers}", f"get from {servers} server{'s' if servers > 1 else ''} on one etcd", None)


def cpu(servers: int) -> Scenario:
    """Return the scenario of the servers' processor time for one get."""
    return Scenario(f"cpu-{servers}", f"CPU time of such a get, {servers}", None, unit=" µs", lower_is_better=True)
