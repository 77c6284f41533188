"""Storage driver for tests: Identity, Controller, Node and Registration services of CSI v1 in a process.

    python -m tests.e2e.csi.driver --data /tmp/d --socket /tmp/d/csi.sock --registry /var/lib/kubelet/plugins_registry

It writes each call to `calls.jsonl` in its data directory. `faults.json` there makes calls fail:
`{"NodeStageVolume": {"code": "INTERNAL", "message": "no disk", "times": 2, "after": false}}`.
`after`: the call does its work first. Without `times` it always fails.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict

from sampan.csi.messages import CSI, REGISTRATION, message
from sampan.rpc.proto_files import ProtoFiles
from tests.e2e.csi.controller import Controller
from tests.e2e.csi.node import Node
from tests.e2e.csi.settings import Refused, Settings
from tests.e2e.csi.store import Store


class Identity:
    """Name and capabilities of the driver."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def GetPluginInfo(self, request: Any) -> dict[str, Any]:
        return {"name": self._settings.name, "vendor_version": "1.0.0"}

    def GetPluginCapabilities(self, request: Any) -> dict[str, Any]:
        service, outer = message("PluginCapability.Service"), message("PluginCapability")
        expansion = message("PluginCapability.VolumeExpansion")
        numbers = service.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_name
        names = ["CONTROLLER_SERVICE"] if self._settings.controller else []
        names += ["VOLUME_ACCESSIBILITY_CONSTRAINTS"] if self._settings.topology else []
        found = [outer(service=service(type=numbers[name].number)) for name in names]
        if "EXPAND_VOLUME" in self._settings.controller:
            online = expansion.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_name["ONLINE"].number
            found.append(outer(volume_expansion=expansion(type=online)))
        return {"capabilities": found}

    def Probe(self, request: Any) -> dict[str, Any]:
        return {}


class Registration:
    """Service by which a node finds the driver."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def GetInfo(self, request: Any) -> dict[str, Any]:
        settings = self._settings
        found = {"type": settings.type, "name": settings.name, "endpoint": str(settings.socket)}
        return {**found, "supported_versions": settings.versions}

    def NotifyRegistrationStatus(self, request: Any) -> dict[str, Any]:
        return {}


class Calls:
    """Runs and records calls, and lets them fail as `faults.json` demands."""

    def __init__(self, directory: Path) -> None:
        self._log = directory / "calls.jsonl"
        self._faults = directory / "faults.json"
        self._lock = threading.Lock()

    def handler(self, method: str, act: Callable[[Any], dict[str, Any]], response: Any) -> Callable[[Any, Any], Any]:
        """Return gRPC's handler of a method."""

        def run(request: Any, context: grpc.ServicerContext) -> Any:
            entry = {"method": method, "request": MessageToDict(request, preserving_proto_field_name=True)}
            fault = self._fault(method)
            try:
                if fault is not None and not fault.get("after"):
                    raise Refused(grpc.StatusCode[fault["code"]], fault.get("message", ""))
                found = act(request)
                if fault is not None:
                    raise Refused(grpc.StatusCode[fault["code"]], fault.get("message", ""))
            except Refused as refused:
                self._record({**entry, "code": refused.code.name, "message": str(refused)})
                context.abort(refused.code, str(refused))
            except (OSError, subprocess.CalledProcessError) as error:
                self._record({**entry, "code": "INTERNAL", "message": str(error)})
                context.abort(grpc.StatusCode.INTERNAL, str(error))
            self._record({**entry, "code": "OK"})
            return response(**found)

        return run

    def _record(self, entry: dict[str, Any]) -> None:
        with self._lock, self._log.open("a") as log:
            log.write(json.dumps({"time": time.time(), **entry}) + "\n")

    def _fault(self, method: str) -> dict[str, Any] | None:
        with self._lock:
            try:
                faults = json.loads(self._faults.read_text())
            except (OSError, ValueError):
                return None
            found: dict[str, Any] | None = faults.get(method)
            if found is not None and "times" in found:
                if found["times"] <= 0:
                    return None
                found["times"] -= 1
                _replace(self._faults, json.dumps(faults))
            return found


def _replace(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


def server(files: ProtoFiles, services: dict[str, object], calls: Calls, socket: Path) -> grpc.Server:
    """Start a server on a socket. Methods that a service lacks are unimplemented."""
    socket.parent.mkdir(parents=True, exist_ok=True)
    socket.unlink(missing_ok=True)
    found = grpc.server(ThreadPoolExecutor(8))
    for name, service in services.items():
        handlers = {}
        for method, (request, response) in files.methods(name).items():
            act = getattr(service, method, None)
            if act is not None:
                handlers[method] = grpc.unary_unary_rpc_method_handler(
                    calls.handler(method, act, files.message(response)),
                    request_deserializer=files.message(request).FromString,
                    response_serializer=files.message(response).SerializeToString,
                )
        full_name = f"{files.proto_package}.{name}"
        found.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(full_name, handlers),))
    found.add_insecure_port(f"unix:{socket}")
    found.start()
    return found


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    store, calls = Store(settings.data), Calls(settings.data)
    services: dict[str, object] = {"Identity": Identity(settings), "Node": Node(settings, store)}
    if settings.controller:
        services["Controller"] = Controller(settings, store)
    servers = [server(CSI, services, calls, settings.socket)]
    registration = settings.registration_socket
    if registration is not None:
        servers.append(server(REGISTRATION, {"Registration": Registration(settings)}, calls, registration))
    print("ready", flush=True)
    ended.wait()
    if registration is not None:
        registration.unlink(missing_ok=True)
    for each in servers:
        each.stop(None).wait()


class Driver:
    """Running driver, for tests."""

    def __init__(self, settings: Settings, *, enter: tuple[str, ...] = ()) -> None:
        """`enter`: command that runs another command, for example in other namespaces."""
        self.settings = settings
        self._enter = enter
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process, and wait until it serves."""
        self.settings.data.mkdir(parents=True, exist_ok=True)
        command = [*self._enter, sys.executable, "-m", "tests.e2e.csi.driver", "--settings", _to_json(self.settings)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])}
        with (self.settings.data / "driver.log").open("a") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            self.stop()
            raise AssertionError((self.settings.data / "driver.log").read_text())

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            process.wait(10)
            if process.stdout is not None:
                process.stdout.close()

    def fail(self, **faults: dict[str, Any]) -> None:
        """Replace the faults."""
        _replace(self.settings.data / "faults.json", json.dumps(faults))

    def set_capacity(self, total: int, largest: int | None = None) -> None:
        """Set the size of the storage, and of the largest volume. Volumes are subtracted from `total`."""
        _replace(self.settings.data / "capacity.json", json.dumps([total, largest]))

    def calls(self, *methods: str) -> list[dict[str, Any]]:
        """Return the recorded calls; of some methods only, if any are given."""
        path = self.settings.data / "calls.jsonl"
        found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [each for each in found if not methods or each["method"] in methods]

    def methods(self, prefix: str = "") -> list[str]:
        """Return the names of successful calls in their order."""
        return [each["method"] for each in self.calls() if each["code"] == "OK" and each["method"].startswith(prefix)]


@contextmanager
def driver(settings: Settings, *, enter: tuple[str, ...] = ()) -> Iterator[Driver]:
    """Run a driver."""
    found = Driver(settings, enter=enter)
    found.start()
    try:
        yield found
    finally:
        found.stop()


def _to_json(settings: Settings) -> str:
    return json.dumps({each.name: getattr(settings, each.name) for each in fields(settings)}, default=str)


def _settings() -> Settings:
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", default="{}", help="all settings as JSON")
    for name in ("data", "socket", "registry", "name", "node"):
        parser.add_argument(f"--{name}")
    given = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    found = {**json.loads(given.pop("settings")), **given}
    for name in ("data", "socket", "registry"):
        if found.get(name) is not None:
            found[name] = Path(found[name])
    return Settings(**found)


if __name__ == "__main__":
    serve(_settings())
