"""`build`: bundles `web/src` into hashed, compressed files, and the shell that loads them."""

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.web.packages import CannotBuild, esbuild, install, notice
from scripts.web.places import ALIASES, ENTRIES, ICON, META, NOTICE, SHELL, TARGET, WORKER

_TYPESCRIPT = {"experimentalDecorators": True, "useDefineForClassFields": False}
"""Options of the compiler for the sources of xterm.js."""
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


def build(root: Path) -> bool:
    """Build the page of a checkout, unless it is built. Return whether it was necessary. Raises `CannotBuild`."""
    target = root / TARGET
    source = source_hash(root)
    if built_from(target) == source:
        return False
    web = root / "web"
    install(web)
    with tempfile.TemporaryDirectory(prefix="sampan-web-") as name:
        folder = Path(name) / "static"
        outputs = _bundle(web, folder)
        icon = _hashed(root / ICON, folder)
        _write_shell(web, folder, outputs, icon)
        files = sorted(path.name for path in folder.iterdir() if path.suffix in _TYPES)
        _compress(root, [folder / each for each in files])
        (folder / NOTICE).write_text(notice(web))
        meta = {"source": source, "files": {each: _facts(folder / each) for each in files}}
        (folder / META).write_text(json.dumps(meta, indent=1) + "\n")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
    return True


def source_hash(root: Path) -> str:
    """Return a hash of all sources of the page and of its build."""
    digest = hashlib.sha256()
    for path in _sources(root):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def built_from(target: Path) -> str:
    """Return the hash of the sources of the built page; empty if there is none."""
    try:
        meta = json.loads((target / META).read_text())
    except (OSError, ValueError):
        return ""
    return str(meta.get("source", ""))


def _sources(root: Path) -> Iterator[Path]:
    web = root / "web"
    yield from (web / SHELL, root / ICON, web / "package-lock.json")
    for folder in (web / "src", root / "scripts" / "web"):
        yield from sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _bundle(web: Path, folder: Path) -> dict[str, Any]:
    """Run esbuild. Return its outputs by name: their entry point and imports."""
    folder.mkdir()
    # Files of the page have a policy under which a worker imports nothing, so it is one file.
    (worker,) = _esbuild(web, folder, f"src/{WORKER}", "--format=iife")
    entries = [f"src/{entry}" for entry in ENTRIES.values()]
    name = f'--define:import.meta.layoutWorker="{worker}"'
    aliases = [f"--alias:{module}=./node_modules/{path}" for module, path in ALIASES.items()]
    options = f"--tsconfig-raw={json.dumps({'compilerOptions': _TYPESCRIPT})}"
    # Names that begin with an underscore are private to a package: the build shortens them.
    return _esbuild(
        web, folder, *entries, "--splitting", "--format=esm", "--mangle-props=^_[a-zA-Z]", *aliases, options, name
    )


def _esbuild(web: Path, folder: Path, *arguments: str) -> dict[str, Any]:
    metafile = folder.parent / "esbuild.json"
    done = subprocess.run(
        [
            esbuild(web),
            *arguments,
            *("--bundle", "--minify", "--target=es2022", "--charset=utf8"),
            *("--entry-names=[name]-[hash]", "--chunk-names=[name]-[hash]", "--legal-comments=none"),
            f"--outdir={folder}",
            f"--metafile={metafile}",
            "--log-level=warning",
        ],
        cwd=web,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CannotBuild(f"esbuild failed: {done.stderr.strip()}")
    outputs: dict[str, Any] = json.loads(metafile.read_text())["outputs"]
    return {Path(name).name: facts for name, facts in outputs.items()}


def _write_shell(web: Path, folder: Path, outputs: dict[str, Any], icon: str) -> None:
    """Write the shell with the names of the entries. Chunks that every page needs are loaded in parallel."""
    shell = (web / SHELL).read_text().replace("{{icon}}", icon)
    names = {facts["entryPoint"]: name for name, facts in outputs.items() if "entryPoint" in facts}
    for placeholder, entry in ENTRIES.items():
        shell = shell.replace("{{" + placeholder + "}}", names[f"src/{entry}"])
    main = outputs[names[f"src/{ENTRIES['main']}"]]
    chunks = [Path(each["path"]).name for each in main["imports"] if each["kind"] == "import-statement"]
    links = "".join(f'    <link rel="modulepreload" href="/dashboard/static/{chunk}">\n' for chunk in chunks)
    (folder / SHELL).write_text(shell.replace("  </head>", f"{links}  </head>"))


def _hashed(source: Path, folder: Path) -> str:
    name = f"{source.stem}-{hashlib.sha256(source.read_bytes()).hexdigest()[:8].upper()}{source.suffix}"
    shutil.copyfile(source, folder / name)
    return name


def _compress(root: Path, files: list[Path]) -> None:
    if shutil.which("node") is None:
        raise CannotBuild("Node.js is not on PATH")
    subprocess.run(["node", root / "scripts" / "web" / "compress.mjs", *files], check=True)


def _facts(path: Path) -> dict[str, str]:
    return {"type": _TYPES[path.suffix], "etag": hashlib.sha256(path.read_bytes()).hexdigest()[:32]}
