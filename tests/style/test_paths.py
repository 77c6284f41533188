"""The agent of a node works on paths that containers can change only by descriptors, with `sampan.node.beneath`."""

import ast
from collections import Counter

from tests.style.sources import ROOT, SOURCES, parse, text_of

NODE = ROOT / "src" / "sampan" / "node"
FOLLOWING = {"rmtree", "copytree", "copy2", "copyfile", "walk", "rglob", "chmod", "chown", "lchown"}
"""Functions that take a path, and follow links in it or below it. Paths of `link_to` and relative ones are safe."""
KNOWN = {
    # Cgroups: no container can make links there.
    "cri/cgroups.py": {"walk": 1},
    "cri/leave.py": {"walk": 1},
    # Sockets of drivers, which run as root.
    "csi/lazy.py": {"rglob": 1},
    "csi/plugins.py": {"rglob": 1},
    # Files and directories that the agent has made, below directories that no container reaches.
    "cri/containers.py": {"chmod": 2},
    "process/instance.py": {"chmod": 1},
    "process/program.py": {"chmod": 3, "chown": 2},
    "process/state.py": {"chmod": 1},
    "volumes/sub_path_mounts.py": {"chmod": 1, "chown": 1},
    "volumes/volumes.py": {"chmod": 2, "chown": 1},
    # In the new mount namespace of a container, before its program starts.
    "process/launcher.py": {"chmod": 2, "chown": 1},
}
"""Number of calls by file. A new one needs a reason why no container can change the path."""


def name_of_call(call: ast.Call) -> str:
    """Return `walk` for `os.walk(…)`."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def is_by_descriptor(call: ast.Call) -> bool:
    """Return whether a call works on a descriptor: `link_to(fd)`, or a name relative to one."""
    first = call.args[0] if call.args else None
    is_link = isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id == "link_to"
    return is_link or any(each.arg == "dir_fd" for each in call.keywords)


def test_agent_follows_no_path_that_containers_can_change() -> None:
    found: dict[str, Counter[str]] = {}
    for path in SOURCES:
        if not path.is_relative_to(NODE) or path.is_relative_to(NODE / "beneath"):
            continue
        for node in ast.walk(parse(text_of(path))):
            if isinstance(node, ast.Call) and name_of_call(node) in FOLLOWING and not is_by_descriptor(node):
                found.setdefault(path.relative_to(NODE).as_posix(), Counter())[name_of_call(node)] += 1
    assert found == KNOWN, "use sampan.node.beneath, or say here why no container can change the path"
