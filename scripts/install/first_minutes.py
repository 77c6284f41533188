"""Goes through README.md as a new user does, and compares what is printed with what README says.

    python -m scripts.install.first_minutes            # new environment with all dependencies from the index
    python -m scripts.install.first_minutes --reuse    # dependencies of this environment: some seconds

Sampan is a wheel that this program builds. `make up` becomes `sampan up` on a free port, in an empty directory. Without
kubectl, `sampan` takes its place, and its missing commands are omitted.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRINT_TIMEOUT_S = 30.0
"""Time until a command prints what README says: the Pods of a Deployment start within seconds."""
_OMITTED = ("make test", "make demo", "make release", "pip install")
_INLINE = re.compile(r"\s{2,}# .*|\s+# prints: .*")


class Differs(Exception):
    """A step does not do what README says."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of README, and the lines that it prints; none if README shows none."""

    command: str
    printed: tuple[str, ...] = ()


def steps_of(readme: str) -> list[Step]:
    """Return the commands of the indented blocks. A line that begins with # is output of the command before."""
    steps: list[Step] = []
    for line in re.findall(r"^ {4}(\S.*)$", readme, re.MULTILINE):
        if line.startswith("# ") and steps:
            steps[-1] = Step(steps[-1].command, (*steps[-1].printed, line[2:]))
        else:
            steps.append(Step(_INLINE.sub("", line)))
    return steps


def pattern_of(lines: Sequence[str]) -> "re.Pattern[str]":
    """Return the pattern of an output. Ages, random suffixes and widths of columns may differ; … is any lines."""
    patterns = []
    for line in lines:
        words = [re.escape(word) for word in line.split()]
        words = [r"\d+m?\d*s" if re.fullmatch(r"\d+s", word) else word for word in words]
        words = [re.sub(r"(?<=\\-)[a-z0-9]{8,10}\\-[a-z0-9]{5}$", r"[a-z0-9]+-[a-z0-9]{5}", word) for word in words]
        patterns.append(r"[^\S\n]+".join(words) + r"[^\S\n]*\n" if line != "…" else r"(?:.*\n)*")
    return re.compile("".join(patterns))


def build(directory: Path) -> Path:
    """Build the wheel."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    subprocess.run(command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    [wheel] = directory.glob("sampan-*.whl")
    return wheel


def install(wheel: Path, venv: Path, *, reuse: bool) -> None:
    """Install the wheel into a new environment. `reuse`: with the dependencies of this environment."""
    subprocess.run([sys.executable, "-m", "venv", *(["--without-pip"] if reuse else []), venv], check=True)
    python = str(venv / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *(["--no-deps", "--no-index", "--no-compile"] if reuse else []), str(wheel)], check=True)
    if reuse:
        # Its own .pth files, such as the one of a checkout, are not read: the packages are found, not that Sampan.
        [packages] = venv.glob("lib/python3*/site-packages")
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


@contextmanager
def server(home: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run `sampan up` during the block. The value is the first line that it prints."""
    command = ["sampan", "up", "--data", "data", "--port", "0"]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    try:
        with timed("sampan up, until ready"):
            line = process.stdout.readline()
        yield line
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PRINT_TIMEOUT_S)
        process.stdout.close()


def adapted(command: str, port: str) -> str | None:
    """Return the command for this machine; None if it is omitted."""
    command = command.replace(":6443", f":{port}")
    if command.startswith(_OMITTED):
        return None
    if not command.startswith("kubectl ") or shutil.which("kubectl"):
        return command
    return None if command.startswith(("kubectl create", "kubectl patch")) else command.replace("kubectl", "sampan", 1)


def run(step: Step, command: str, home: Path, environment: dict[str, str]) -> None:
    """Run a command until it prints what README says. It may fail only if README shows its error. Raises `Differs`."""
    deadline = time.monotonic() + PRINT_TIMEOUT_S
    while True:
        done = subprocess.run(
            ["bash", "-c", command], cwd=home, env=environment, capture_output=True, text=True, check=False
        )
        shown = done.stderr if done.returncode else done.stdout
        if step.printed and pattern_of(step.printed).fullmatch(shown):
            return
        if done.returncode:
            raise Differs(f"{command}: exit code {done.returncode}\n{done.stderr}")
        if not step.printed:
            return
        if time.monotonic() > deadline:
            raise Differs("\n".join((command, "README says:", *step.printed, "printed:", done.stdout)))
        time.sleep(0.2)


def walk(readme: str, home: Path, environment: dict[str, str]) -> list[str]:
    """Run all steps with a server. Return the commands that were run. Raises `Differs`."""
    (home / "examples").symlink_to(ROOT / "examples")
    [output] = re.findall(r"prints: (ready .*)", readme)
    ran = []
    with server(home, environment) as line:
        found = re.fullmatch(re.escape(output).replace("6443", r"(\d+)").replace("…/", ".*") + "\n", line)
        if found is None:
            raise Differs(f"README says: {output}\nprinted: {line}{(home / 'log').read_text()}")
        for step in steps_of(readme):
            command = adapted(step.command, found[1])
            if step.command == "make up" or command is None:
                continue
            if command.startswith("export "):
                name, _, value = command.removeprefix("export ").partition("=")
                environment[name] = value.replace("$PWD", str(home))
                continue
            with timed(command):
                run(step, command, home, environment)
            ran.append(command)
    return ran


@contextmanager
def timed(title: str) -> Iterator[None]:
    """Print the time that the block takes."""
    began = time.monotonic()
    yield
    print(f"{time.monotonic() - began:6.1f} s  {title[:100]}", flush=True)


def first_minutes(directory: Path, *, reuse: bool) -> list[str]:
    """Build, install and go through README. Return the commands that were run. Raises `Differs`."""
    home = directory / "home"
    home.mkdir()
    with timed("build the wheel"):
        wheel = build(directory)
    with timed("install it"):
        install(wheel, directory / "venv", reuse=reuse)
    environment = {name: value for name, value in os.environ.items() if name not in ("KUBECONFIG", "PYTHONPATH")}
    environment |= {"PATH": f"{directory / 'venv' / 'bin'}:{os.environ['PATH']}", "HOME": str(home)}
    return walk((ROOT / "README.md").read_text(), home, environment)


def main() -> int:
    """Return 1 if README is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reuse", action="store_true", help="use the dependencies of this environment")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sampan-first-") as directory:
        try:
            with timed("in all"):
                first_minutes(Path(directory), reuse=given.reuse)
        except Differs as error:
            print(f"README.md differs: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
