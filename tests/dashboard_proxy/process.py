"""`sampan dashboard` as a process, and kubeconfigs for it."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.user_environment import user_environment


@dataclass(frozen=True)
class LocalDashboard:
    """A process that has printed its link."""

    process: "subprocess.Popen[str]"
    address: str
    link: str
    """Path and fragment of the one-time link, below `/dashboard/`."""
    ready_line: str

    def next_link(self) -> str:
        """Return the next link that the process prints."""
        assert self.process.stdout is not None
        return link_in(self.process.stdout.readline())


def link_in(line: str) -> str:
    """Return path and fragment of a printed link."""
    found = re.search(r"https?://\S+?/dashboard/(login#\S+) \(valid once, for 10 minutes\)", line)
    assert found is not None, line
    return found[1]


@contextmanager
def local_dashboard(kubeconfig: Path, *arguments: str) -> Iterator[LocalDashboard]:
    """Run the command in the block, on a free port. Its log is empty at the end."""
    options = ["--kubeconfig", str(kubeconfig), "--port", "0", *arguments]
    command = [sys.executable, "-m", "sampan", "dashboard", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = user_environment(PYTHONUNBUFFERED="1")
    with subprocess.Popen(command, **pipes, text=True, env=environment) as started:  # type: ignore[call-overload]
        try:
            ready = started.stdout.readline()
            found = re.match(r"ready (https?://\S+) ", ready)
            assert found is not None, ready or started.stderr.read()
            yield LocalDashboard(started, found[1], link_in(started.stdout.readline()), ready)
        finally:
            started.terminate()
            started.wait()


def write_kubeconfig(
    file: Path, server: str, user: Mapping[str, Any], *, ca: Path | None = None, namespace: str = "default"
) -> Path:
    """Write a kubeconfig with the context `shop`."""
    cluster = {"server": server, **({"certificate-authority": str(ca)} if ca is not None else {})}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "shop",
        "clusters": [{"name": "shop", "cluster": cluster}],
        "users": [{"name": "shop", "user": dict(user)}],
        "contexts": [{"name": "shop", "context": {"cluster": "shop", "user": "shop", "namespace": namespace}}],
    }
    file.write_text(yaml.safe_dump(document))
    return file
