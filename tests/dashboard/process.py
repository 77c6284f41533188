"""`sampan up` as a process, with the page and its one-time link."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser


@dataclass(frozen=True)
class Running:
    """A server process."""

    address: str
    link: str
    """Path and fragment of the one-time link, below `/dashboard/`."""
    http: httpx.Client


@contextmanager
def running_server(data: Path, *arguments: str) -> Iterator[Running]:
    """Run `sampan up` with a new data directory in the block."""
    options = ["--data", str(data), "--port", "0", "--storage", "memory", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "sampan", "up", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=data.parent) as started:
        try:
            running = read_lines(started, data)
            with running.http:
                yield running
        finally:
            started.terminate()


@contextmanager
def logged_in(chromium: Browser, process: Running) -> Iterator[Page]:
    """Open the overview in a page that the one-time link has logged in."""
    with chromium.page(process.link) as opened:
        expect(opened.get_by_role("heading", name="Overview")).to_be_visible()
        yield opened


def read_lines(started: "subprocess.Popen[str]", data: Path) -> Running:
    """Read what the server prints, until its link."""
    assert started.stdout is not None
    address = ""
    for line in started.stdout:
        address = address or (re.findall(r"^ready (https://\S+)", line) or [""])[0]
        link = re.search(r"https://\S+?/dashboard/(login#\S+)", line)
        if link:
            token = (data / "admin.token").read_text().strip()
            headers = {"Authorization": f"Bearer {token}"}
            http = httpx.Client(base_url=address, verify=False, headers=headers)  # the test's own server
            return Running(address, link[1], http)
    raise AssertionError("the server printed no link")
