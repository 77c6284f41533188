"""`program_of`: combines an image and a container's configuration into a program, with or without namespaces."""

import os
import resource
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sampan.node.process.images import Image
from sampan.node.process.launch import LaunchError, LaunchSpec, View
from sampan.node.process.proc import MARK
from sampan.node.process.root_directory import make_root, working_directory
from sampan.node.process.users import home_of, ids_of
from sampan.node.sessions import ContainerConfig, Mount

_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NETWORK_FILES: Final = ("/etc/resolv.conf", "/etc/hosts")


@dataclass(frozen=True, slots=True)
class Desired:
    """One run of a container."""

    mark: str
    """Id of the container. It marks all processes of the run."""
    directory: Path
    """Directory of this run."""
    image: Image
    config: ContainerConfig
    namespaces: bool
    root: str = ""
    """The agent's directory, which is hidden from the container."""


def message_file(directory: Path) -> Path:
    """Return the file that the container sees at its terminationMessagePath."""
    return directory / "termination-log"


def program_of(desired: Desired) -> LaunchSpec:
    """Return the program to launch, and create its files in the run's directory. Raises `LaunchError`, `OSError`."""
    image, config = desired.image, desired.config
    desired.directory.mkdir(parents=True, exist_ok=True)
    mounts = [*config.mounts, *_own_mounts(desired)]
    ids = _ids(image, config)
    program = LaunchSpec(
        argv=_argv(image, config),
        env=_env(desired, os.getuid() if ids is None else ids[0]),
        cwd=config.working_dir or image.working_dir,
        limits=_limits(config),
        tty=config.tty,
        groups=config.groups if os.geteuid() == 0 else (),
    )
    if desired.namespaces:
        view = View(
            image.directory, str(desired.directory), mounts, config.host_name, config.read_only_root, desired.root
        )
        program = replace(program, view=view)
        if os.geteuid() != 0:
            return replace(program, inner_ids=ids or (os.getuid(), os.getgid()))
        return replace(program, ids=ids)
    root = desired.directory / "rootfs"
    make_root(root, image, mounts)
    if ids is not None and os.geteuid() == 0:
        os.chown(root, *ids)
        if ids[0] != 0:
            _let_in(desired, ids)
    own_ids = None if ids == (os.getuid(), os.getgid()) else ids
    cwd = working_directory(root, image, program.cwd)
    return replace(
        program, argv=_of_image(program.argv, image), env=_image_first(program.env, image), cwd=cwd, ids=own_ids
    )


def _let_in(desired: Desired, ids: tuple[int, int]) -> None:
    """Let the container's user traverse the directories of its Pod. It is needed only without namespaces."""
    pod = desired.directory.parents[2]
    for directory in (pod.parent, pod.parent.parent):
        directory.chmod(directory.stat().st_mode & 0o777 | 0o001)
    # The directory stays the agent's: its owner could replace the volumes by links, which the agent would follow.
    has_several = pod.stat().st_gid not in (0, ids[1])
    os.chown(pod, -1, ids[1])
    pod.chmod(0o751 if has_several or ids[1] == 0 else 0o750)


def exec_program(program: LaunchSpec, image: Image, argv: Sequence[str], *, tty: bool, pid: int) -> LaunchSpec:
    """Return a program for `exec` in the container whose main process is `pid`."""
    env = {"TERM": "xterm", **program.env} if tty else program.env
    if program.view is not None:
        return replace(program, argv=argv, env=env, tty=tty, view=None, join=pid)
    return replace(program, argv=_of_image(argv, image), env=env, tty=tty)


def _of_image(argv: Sequence[str], image: Image) -> Sequence[str]:
    """Return the path of a program in the image's directory, if it exists. Only without namespaces."""
    own = image.directory + argv[0]
    is_own = not image.is_host and argv[0].startswith("/") and os.path.exists(own)
    return [own, *argv[1:]] if is_own else argv


def _image_first(env: Mapping[str, str], image: Image) -> Mapping[str, str]:
    """Return a PATH that prefers the image's programs to the machine's. Only without namespaces."""
    if image.is_host:
        return env
    path = ":".join(image.directory + each for each in env["PATH"].split(":"))
    return {**env, "PATH": f"{path}:{_PATH}"}


def signal_of(name: str) -> int:
    """Return the number of `SIGUSR1`, `USR1` or `10`. Returns that of SIGTERM for an empty or unknown name."""
    try:
        if name.isdigit():
            return signal.Signals(int(name)).value
        return signal.Signals[name if name.startswith("SIG") else f"SIG{name}"].value
    except (KeyError, ValueError):
        return signal.SIGTERM.value


def _argv(image: Image, config: ContainerConfig) -> list[str]:
    """Combine the container's command and args with the image's entrypoint and cmd, as Kubernetes does."""
    if config.command:
        return [*config.command, *config.args]
    argv = [*image.entrypoint, *(config.args or image.cmd)]
    if not argv:
        raise LaunchError(f"no command specified{_without_entrypoint(image)}")
    return argv


def _without_entrypoint(image: Image) -> str:
    if not image.is_host:
        return f": the image's directory {image.directory} has no entrypoint in image.json"
    return (
        ": nodes with the runtime process pull no images, so there is no entrypoint; set the container's command, map "
        f"the image to a directory (sampan node --image {image.name}=DIR), or use --node-runtime cri"
    )


def _env(desired: Desired, uid: int) -> dict[str, str]:
    env = {"PATH": _PATH, "HOME": home_of(uid, desired.image.directory)}
    if desired.config.tty:
        env["TERM"] = "xterm"
    env.update(desired.image.env)
    if not desired.namespaces:
        env |= {MARK: desired.mark, "SAMPAN_ROOT": str(desired.directory / "rootfs")}
    env.update(desired.config.env)
    return env


def _ids(image: Image, config: ContainerConfig) -> tuple[int, int] | None:
    if config.run_as_user is None and config.run_as_group is None:
        return ids_of(image.user, image.directory)
    uid = os.getuid() if config.run_as_user is None else config.run_as_user
    return uid, 0 if config.run_as_group is None else config.run_as_group


def _limits(config: ContainerConfig) -> list[tuple[int, int, int]]:
    """Return the limits of a process: no core files, and a maximum for its data segment.

    RLIMIT_AS would also count reserved and mapped memory, so programs that reserve much would not start. Unlike a
    cgroup, the limit holds for each process instead of the container, and allocations fail instead of killing the
    container.
    """
    limits = [(resource.RLIMIT_CORE, 0, 0)]
    if config.memory_limit_bytes is not None:
        limits.append((resource.RLIMIT_DATA, config.memory_limit_bytes, config.memory_limit_bytes))
    return limits


def _own_mounts(desired: Desired) -> list[Mount]:
    mounts = []
    taken = {mount.container_path for mount in desired.config.mounts}
    if desired.config.termination_message_path:
        file = message_file(desired.directory)
        file.touch()
        file.chmod(0o666)
        mounts.append(Mount("termination-log", str(file), desired.config.termination_message_path))
    if desired.namespaces and desired.config.host_name:
        name = desired.directory / "hostname"
        name.write_text(desired.config.host_name + "\n")
        mounts.append(Mount("hostname", str(name), "/etc/hostname"))
    if desired.namespaces and not desired.image.is_host:
        files = (path for path in _NETWORK_FILES if os.path.exists(path))
        mounts += [Mount(path.rpartition("/")[2], path, path, read_only=True) for path in files]
    return [mount for mount in mounts if mount.container_path not in taken]
