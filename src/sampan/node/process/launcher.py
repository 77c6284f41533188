"""Helper process between the agent and its containers' programs. It forks processes that become the programs.

Run this file with `python -I -S`; do not import it. It imports only small modules, so that it starts fast.
The agent starts it once. For each message on its socket, which carries four descriptors (a channel to the agent, and
the program's standard streams), it forks a process:

1. The process sends `S<pid>` on the channel and reads the marshalled spec.
2. It sets up the container's view of the machine, and sends `P<pid>` and `R`.
3. It waits for `G` and executes the program. If the agent dies before it sends `G`, nothing is executed.

An error is sent as `E<text>`. The end of the channel means that the program runs.

All processes are children of the agent (CLONE_PARENT). In a process namespace the program is the first process; no code
of this file runs in it any longer. The kernel kills a program when the agent's thread that started this file ends.
Source: clone(2), pivot_root(2), mount_namespaces(7), user_namespaces(7); opencontainers runtime-spec config-linux.md.
"""

import ctypes
import fcntl
import marshal
import os
import resource
import socket
import stat
import sys

_CLONE_PARENT = 0x8000
_NEW_MOUNTS, _NEW_HOST_NAME, _NEW_USERS, _NEW_PIDS = 0x20000, 0x4000000, 0x10000000, 0x20000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_MNT_DETACH, _TIOCSCTTY, _PR_SET_PDEATHSIG, _SIG_SETMASK = 2, 0x540E, 1, 2
_SIGKILL, _SIGCHLD, _SIGNALS = 9, 17, 64
_SYSCALLS = {"x86_64": (56, 155), "aarch64": (220, 41)}  # Numbers of the system calls clone and pivot_root.
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # Numbers of system calls.
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_CLONED = 1 | 0x80000 | _AT_RECURSIVE  # OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC, AT_RECURSIVE
_FROM_DESCRIPTOR = 4  # MOVE_MOUNT_F_EMPTY_PATH
_OLD = "/.host"
_ATTEMPTS_MAX = 10  # Attempts for a directory entry that vanishes and comes back.
_MEMORY, _TMP = ".scratch", "/tmp"
_FICLONE, _COPIED_BYTES_MAX = 0x40049409, 64 << 20
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx")
_OWN = ("proc", "sys", "dev")


class _Spec:
    """Program to start. `_spec` in launch.py documents the fields."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    ids: tuple[int, int] | None
    groups: list[int]
    limits: list[tuple[int, int, int]]
    tty: bool
    namespaces: bool
    image: str
    scratch: str
    mounts: list[tuple[str, str, bool, tuple[int, int] | None]]
    host_name: str
    read_only_root: bool
    hidden: str
    inner_ids: tuple[int, int] | None
    join: int
    join_flags: int


class _Failure(Exception):
    """A launch has failed. The text is for the container's status."""


_libc = ctypes.CDLL(None, use_errno=True)


def _call(what: str, function: "ctypes._NamedFuncPointer", *arguments: object) -> int:
    result: int = function(*arguments)
    if result < 0:
        raise _Failure(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    encoded = [os.fsencode(text) for text in (source, target, kind)]
    _call(f"mount {target}", _libc.mount, *encoded, ctypes.c_ulong(flags), os.fsencode(options) or None)


def _enter(spec: _Spec) -> bool:
    """Enter the namespaces. Returns whether the program needs a new process to be in them."""
    if spec.join:
        pidfd = os.pidfd_open(spec.join)
        _call("setns", _libc.setns, pidfd, spec.join_flags)
        os.close(pidfd)
        return True
    if not spec.namespaces:
        return False
    if spec.inner_ids is not None:
        uid, gid = os.getuid(), os.getgid()
        _call("unshare", _libc.unshare, _NEW_USERS)
        inner_uid, inner_gid = spec.inner_ids
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{inner_uid} {uid} 1")
        _write("/proc/self/gid_map", f"{inner_gid} {gid} 1")
    _call("unshare", _libc.unshare, _NEW_MOUNTS | _NEW_HOST_NAME | _NEW_PIDS)
    return True


def _sibling() -> int:
    """Fork like fork(2), but as another child of the agent, in the selected process namespace."""
    number = _SYSCALLS[os.uname().machine][0]
    return _call("clone", _libc.syscall, number, _CLONE_PARENT | _SIGCHLD, 0, 0, 0, 0)


def _make_root(spec: _Spec) -> None:
    """Set up a root directory in which writes do not change the machine, and change to it."""
    _mount("", "/", flags=_MS_REC | _MS_PRIVATE)
    root = os.path.join(spec.scratch, "root")
    os.makedirs(root, exist_ok=True)
    layers = _Layers(spec, root)
    _mount(root, root, flags=_MS_BIND)
    for name in os.listdir(spec.image):
        if name not in _OWN:
            layers.take_over(os.path.join(spec.image, name), name)
    layers.hide()
    trees = [_tree(source, target, identity) for source, target, _, identity in spec.mounts]
    _pivot(root)
    _make_own()
    # First: in volumes there may be links, which lead to the machine's files as long as those are mounted.
    _call("umount", _libc.umount2, os.fsencode(_OLD), _MNT_DETACH)
    os.rmdir(_OLD)
    for tree, (_, target, read_only, _) in zip(trees, spec.mounts, strict=True):
        _attach(tree, target, read_only=read_only, shared=layers.shared)
    if spec.host_name:
        socket.sethostname(spec.host_name)
    if spec.cwd and not _is_in(os.path.realpath(spec.cwd), layers.shared):
        os.makedirs(spec.cwd, exist_ok=True)
    if spec.read_only_root:
        for path in layers.writable:
            _make_read_only(path)


class _Layers:
    """Mount the image's directories, each with a writable overlay, whatever is in them.

    An overlay hides file systems that are mounted inside its lower directory, so each of them gets an overlay on top.
    An agent without privileges cannot make an overlay of a directory with mounts inside, because the kernel prevents it
    from showing what they cover. Such a directory is created empty, and its entries are added one by one.
    Files in such directories, and in the image's root, are copied, up to 64 MiB for a container. What can be neither
    overlaid nor copied is mounted read-only.
    Source: fs/namespace.c clone_private_mount, fs/overlayfs/super.c (Linux 5.12; the upper directory of an overlay may
    be inside its lower one).
    """

    def __init__(self, spec: _Spec, root: str) -> None:
        self._spec = spec
        self._root = root  # Nothing is mounted here yet.
        with open("/proc/self/mountinfo") as mounts:
            points = {_unescaped(line.split(" ")[4]) for line in mounts}
        own = [_TMP] if spec.image == "/" else []
        left_out = [each for each in (spec.hidden, *own) if each]
        self._mount_points = sorted(each for each in points if not _is_in(each, left_out))
        self._copied_bytes_left = _COPIED_BYTES_MAX
        self._overlays = 0
        self.writable = ["/"]
        self.shared = ["/proc", "/sys"]

    def take_over(self, source: str, path: str) -> None:
        """Add an entry of the image to the new root, at a relative path, unless it is deleted during the call."""
        target = os.path.join(self._root, path)
        for left in reversed(range(_ATTEMPTS_MAX)):
            try:
                self._take_over(source, path, target)
            except (_Failure, OSError):
                if not left and os.path.lexists(source):
                    raise
                if os.path.lexists(target):
                    (os.rmdir if os.path.isdir(target) else os.unlink)(target)
                if os.path.lexists(source):
                    continue
            return

    def _take_over(self, source: str, path: str, target: str) -> None:
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
        elif os.path.isfile(source):
            self._take_over_file(source, path, target)
        elif os.path.isdir(source):
            os.mkdir(target)
            if source == _TMP:
                self._make_tmp(target)
            elif source == self._spec.hidden:
                self._own(target, source)
            elif self._overlay(source, path):
                self._take_over_mounts(source, path)
            elif _has_any(self._mount_points, source):
                self._own(target, source)
                for name in os.listdir(source):
                    self.take_over(os.path.join(source, name), f"{path}/{name}")
            else:
                self._share(source, path)

    def _take_over_file(self, source: str, path: str, target: str) -> None:
        if not self._copy(source, target):
            _write(target, "")
            self._share(source, path)

    def _take_over_mounts(self, source: str, path: str) -> None:
        """Add what is mounted inside a directory of the machine: its overlay shows what these mounts cover.

        A mount that vanishes or cannot be repeated is left out.
        """
        for point in _outermost(self._mount_points, source):
            inner = path + point[len(source) :]
            try:
                if os.path.isdir(point) and self._overlay(point, inner):
                    self._take_over_mounts(point, inner)
                elif not os.path.isfile(point) or not self._copy(point, os.path.join(self._root, inner)):
                    self._share(point, inner)
            except (_Failure, OSError):
                continue

    def _make_tmp(self, target: str) -> None:
        """Give the container an empty directory for temporary files, next to its other files."""
        own = os.path.join(self._spec.scratch, "tmp")
        os.makedirs(own, exist_ok=True)
        os.chmod(own, 0o1777)
        _mount(own, target, flags=_MS_BIND)
        self.writable.append(_TMP)

    def _share(self, source: str, path: str) -> None:
        target = os.path.join(self._root, path)
        _mount(source, target, flags=_MS_BIND | _MS_REC)
        _make_read_only(target, recursive=True)
        self.shared.append(f"/{path}")

    def hide(self) -> None:
        """Hide the agent's files, because they contain the secrets of other Pods."""
        image, hidden = self._spec.image.rstrip("/"), self._spec.hidden
        if hidden and _is_in(hidden, [image]) and os.path.isdir(self._root + hidden[len(image) :]):
            _mount("tmpfs", self._root + hidden[len(image) :], "tmpfs", options="mode=0700")

    def _overlay(self, source: str, path: str) -> bool:
        """Mount a writable overlay over a directory of the image: on disk, or in memory if the disk's file system does
        not support it.
        """
        self._overlays += 1
        for scratch in (self._spec.scratch, os.path.join(self._root, _MEMORY)):
            if scratch != self._spec.scratch and not os.path.isdir(scratch):
                os.mkdir(scratch)
                _mount("tmpfs", scratch, "tmpfs", options="mode=0700")
            upper, work = (os.path.join(scratch, part, str(self._overlays)) for part in ("upper", "work"))
            os.makedirs(upper, exist_ok=True)
            os.makedirs(work, exist_ok=True)
            self._own(upper, source)
            options = f"lowerdir={_escaped(source)},upperdir={_escaped(upper)},workdir={_escaped(work)}"
            if self._spec.inner_ids:
                options += ",userxattr"
            try:
                _mount("overlay", os.path.join(self._root, path), "overlay", options=options)
            except _Failure:
                continue
            self.writable.append(f"/{path}")
            return True
        return False

    def _copy(self, source: str, target: str) -> bool:
        """Copy a file: unlike a mount, the container can move, change and remove it.

        Returns False for a file that is too large, or that the agent cannot copy. The copy shares disk blocks if the
        file system supports it.
        """
        before = os.stat(source)
        try:
            with open(source, "rb", buffering=0) as original, open(target, "wb", buffering=0) as copy:
                try:
                    fcntl.ioctl(copy, _FICLONE, original.fileno())
                except OSError:
                    if before.st_size > self._copied_bytes_left:
                        return False
                    self._copied_bytes_left -= before.st_size
                    while os.sendfile(copy.fileno(), original.fileno(), None, 1 << 24):
                        pass
            self._own(target, source, 0)
            os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
        except OSError:
            return False
        return True

    def _own(self, path: str, source: str, mode: int = 0o700) -> None:
        """Copy owner and mode of the image's file or directory, as far as the agent has the permission.

        `mode` is added.
        """
        before = os.stat(source)
        if self._spec.inner_ids is None:
            os.chown(path, before.st_uid, before.st_gid)
        os.chmod(path, stat.S_IMODE(before.st_mode) | mode)


def _has_any(paths: "list[str]", directory: str) -> bool:
    """Return whether one of the paths is inside a directory."""
    return any(path.startswith(directory.rstrip("/") + "/") for path in paths)


def _outermost(paths: "list[str]", directory: str) -> "list[str]":
    """Return those of sorted paths inside a directory that are in no other one of them."""
    found: list[str] = []
    for path in paths:
        if _has_any([path], directory) and not _is_in(path, found):
            found.append(path)
    return found


def _unescaped(text: str) -> str:
    """Return a path of mountinfo. Source: proc_pid_mountinfo(5)."""
    return text.encode().decode("unicode_escape").encode("latin-1").decode(errors="surrogateescape")


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace(",", "\\,").replace(":", "\\:")


def _pivot(root: str) -> None:
    os.mkdir(root + _OLD)
    number = _SYSCALLS[os.uname().machine][1]
    _call("pivot_root", _libc.syscall, number, os.fsencode(root), os.fsencode(root + _OLD))
    os.chdir("/")


def _make_own() -> None:
    """Mount the file systems that a container needs: its own `/proc` and `/dev`, and a read-only `/sys`."""
    for name in _OWN:
        os.makedirs(f"/{name}", exist_ok=True)
    try:
        _mount("proc", "/proc", "proc", flags=_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    except _Failure:
        _mount(f"{_OLD}/proc", "/proc", flags=_MS_BIND | _MS_REC)
    _mount(f"{_OLD}/sys", "/sys", flags=_MS_BIND | _MS_REC)
    _make_read_only("/sys", recursive=True)
    _mount("tmpfs", "/dev", "tmpfs", flags=_MS_NOSUID, options="mode=0755")
    for name in _DEVICES:
        if os.path.exists(f"{_OLD}/dev/{name}"):
            _write(f"/dev/{name}", "")
            _mount(f"{_OLD}/dev/{name}", f"/dev/{name}", flags=_MS_BIND)
    for name in ("pts", "shm"):
        os.mkdir(f"/dev/{name}")
    if os.path.isdir(f"{_OLD}/dev/pts"):
        _mount(f"{_OLD}/dev/pts", "/dev/pts", flags=_MS_BIND | _MS_REC)
    _mount("tmpfs", "/dev/shm", "tmpfs", flags=_MS_NOSUID | _MS_NODEV, options="mode=1777")
    for number, name in (("", "fd"), ("/0", "stdin"), ("/1", "stdout"), ("/2", "stderr")):
        os.symlink(f"/proc/self/fd{number}", f"/dev/{name}")


def _tree(source: str, target: str, identity: "tuple[int, int] | None") -> int:
    """Return a descriptor of a copy of the mounts at a path of the machine, which is attached nowhere yet.

    `identity`: device and inode that the path must have, because containers can change it.
    """
    tree = _call(f"mount {target}", _libc.syscall, _OPEN_TREE, _AT_FDCWD, os.fsencode(source), _CLONED)
    found = os.fstat(tree)
    if identity is not None and (found.st_dev, found.st_ino) != tuple(identity):
        raise _Failure(f"cannot mount {source}: it was replaced meanwhile")
    return tree


def _attach(tree: int, target: str, *, read_only: bool, shared: list[str]) -> None:
    """Mount a copy of mounts at a path of the container, which is created if it is missing."""
    real = os.path.realpath("/" + target)
    if not os.path.exists(real):
        if _is_in(real, shared):
            raise _Failure(f"cannot mount anything at {target}: the directory belongs to the machine")
        is_directory = stat.S_ISDIR(os.fstat(tree).st_mode)
        os.makedirs(real if is_directory else os.path.dirname(real), exist_ok=True)
        if not is_directory:
            _write(real, "")
    arguments = (tree, b"", _AT_FDCWD, os.fsencode(real), _FROM_DESCRIPTOR)
    _call(f"mount {target}", _libc.syscall, _MOVE_MOUNT, *arguments)
    os.close(tree)
    if read_only:
        _make_read_only(real, recursive=True)


def _make_read_only(path: str, *, recursive: bool = False) -> None:
    """Remount read-only. The mount's other flags stay."""
    attributes = (ctypes.c_uint64 * 4)(1, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    _call(f"mount_setattr {path}", _libc.syscall, _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), flags, attributes, 32)


def _is_in(path: str, directories: list[str]) -> bool:
    return any(path == each or path.startswith(each + "/") for each in directories)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _limit(spec: _Spec) -> None:
    for kind, soft, hard in spec.limits:
        _, hard_now = resource.getrlimit(kind)
        if os.geteuid() != 0 and hard_now != resource.RLIM_INFINITY:
            hard = hard_now if hard == resource.RLIM_INFINITY else min(hard, hard_now)
            soft = hard if soft == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(kind, (soft, hard))


def _program(name: str, path: str) -> str:
    """Return the path of a command. Raises `_Failure`."""
    if "/" in name:
        if not os.path.exists(name):
            raise _Failure(f'exec: "{name}": stat {name}: no such file or directory')
        return name
    for directory in path.split(":"):
        found = os.path.join(directory or ".", name)
        if os.path.isfile(found) and os.access(found, os.X_OK):
            return found
    raise _Failure(f'exec: "{name}": executable file not found in $PATH')


def _run(spec: _Spec, channel: int) -> None:
    """Execute the program after the agent's `G`."""
    _report(channel, "R")
    if os.read(channel, 1) != b"G":
        os._exit(1)
    os.umask(0o022)
    _limit(spec)
    if spec.ids is not None or spec.groups:
        uid, gid = spec.ids or (os.getuid(), os.getgid())
        os.setgroups([gid, *spec.groups])
        os.setgid(gid)
        os.setuid(uid)
    _libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    os.chdir(spec.cwd or "/")
    argv = spec.argv
    program = _program(argv[0], spec.env.get("PATH", ""))
    for number in range(1, _SIGNALS + 1):
        # An ignored signal would stay ignored in the program, so reset what Python and the agent ignore.
        _libc.signal(number, None)
    _libc.sigprocmask(_SIG_SETMASK, bytes(128), None)
    try:
        os.execve(program, argv, spec.env)
    except OSError as error:
        raise _Failure(f'exec: "{argv[0]}": {os.strerror(error.errno or 0).lower()}') from None


def _report(channel: int, text: str) -> None:
    os.write(channel, text.encode(errors="replace") + b"\n")


def _read_spec(channel: int) -> _Spec:
    """Read a length of eight bytes, then that many bytes."""
    data = b""
    while len(data) < 8 or len(data) < 8 + int.from_bytes(data[:8], "big"):
        part = os.read(channel, 1 << 16)
        if not part:
            os._exit(1)
        data += part
    spec = _Spec()
    spec.__dict__.update(marshal.loads(data[8:]))
    return spec


def _launch(channel: int) -> None:
    """Set up and run the process whose description the agent has sent."""
    os.set_inheritable(channel, False)
    _report(channel, f"S{os.getpid()}")
    spec = _read_spec(channel)
    try:
        if _enter(spec):
            pid = _sibling()
            if pid:
                _report(channel, f"P{pid}")
                os._exit(0)
        else:
            _report(channel, f"P{os.getpid()}")
        os.setsid()
        if spec.tty:
            fcntl.ioctl(0, _TIOCSCTTY, 0)
        if spec.namespaces:
            _make_root(spec)
        _run(spec, channel)
    except (_Failure, OSError, ValueError) as error:
        _report(channel, f"E{error}")
    os._exit(128)


def _unmount(source: str) -> None:
    """Unmount the tmpfs mounts of the agent, which may have been killed."""
    with open("/proc/self/mountinfo") as mounts:
        found = [line.split(" ")[4] for line in mounts if f" - tmpfs {source} " in line]
    for path in reversed(found):
        _libc.umount2(os.fsencode(_unescaped(path)), _MNT_DETACH)


def _serve(control: socket.socket, mounts: str) -> None:
    """Fork a process for each message until the agent ends; then unmount the agent's tmpfs mounts, whose source is
    `mounts`.
    """
    while True:
        message, fds, _, _ = socket.recv_fds(control, 1, 4)
        if not message:
            if mounts:
                _unmount(mounts)
            return
        if _sibling() == 0:
            control.close()
            for number, fd in enumerate(fds[1:]):
                os.dup2(fd, number)
                os.close(fd)
            _launch(fds[0])
        for fd in fds:
            os.close(fd)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as _control:
        _serve(_control, sys.argv[2])
