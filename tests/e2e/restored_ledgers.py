"""Ledgers with SQLite and PostgreSQL that get lost entries back: the story of example 11 on nodes of any kind."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from ledgers.backup.v1 import Backup
from ledgers.backup_schedule.v1 import BackupSchedule
from ledgers.ledger.v1 import Ledger
from ledgers.restore.v1 import Restore
from sampan.resource.crd import crd_of
from tests.e2e.kubectl import Kubectl
from tests.examples.operator_process import EXAMPLES, OperatorProcess, operating
from tests.machines import wait_for

EXAMPLE = "11-backup-restore"
LIMIT_S = 150
_SQLITE = """import sqlite3, sys
ledger = sqlite3.connect("/data/ledger.db", timeout=60, isolation_level=None)
print(*(row[0] for row in ledger.execute(sys.argv[1])))"""
_READ = "SELECT note FROM notes ORDER BY note"


def sample(file: str, **fields: Any) -> dict[str, Any]:
    """Return a ledger of the samples, with other fields in its spec."""
    found: dict[str, Any] = yaml.safe_load((EXAMPLES / EXAMPLE / "samples" / file).read_text())
    found["spec"].update(fields)
    return found


class Story:
    """A cluster with the operator, which is killed after each change of the user."""

    def __init__(self, kubectl: Kubectl, ledgers: Sequence[dict[str, Any]], enter: Sequence[str] = ()) -> None:
        """`enter`: command that runs another command on the machine of the cluster; empty for this one."""
        self.kubectl = kubectl
        self.ledgers = {each["metadata"]["name"]: each for each in ledgers}
        self._enter = enter

    def run(self, log: Path) -> None:
        """Back up, lose, restore, confirm, refuse a corrupt copy, delete."""
        crds = [crd_of(each) for each in (Ledger, Backup, Restore, BackupSchedule)]
        for crd in crds:
            self.kubectl.apply(json.dumps(crd))
            self.kubectl("wait", "--for=condition=Established", f"crd/{crd['metadata']['name']}")
        environment = {"KUBECONFIG": self.kubectl.environment["KUBECONFIG"]}
        with operating(EXAMPLE, "ledgers", environment, log, self._enter) as operator:
            self._back_up(operator)
            self._restore(operator)
            self._refuse(operator)
            self._delete()
        self.kubectl("delete", "crd", *(each["metadata"]["name"] for each in crds), "--timeout=50s")

    def _back_up(self, operator: OperatorProcess) -> None:
        for ledger in self.ledgers.values():
            self.kubectl.apply(json.dumps(ledger))
        self._each(lambda name: self._is("ledger", name, "Serving"), "ledgers that serve")
        self._each(lambda name: self._rows(name, "SELECT 1") == "1", "databases that respond")
        self._write("CREATE TABLE notes (note text)", "INSERT INTO notes VALUES ('first')")
        for name in self.ledgers:
            self._apply("Backup", name, ledgerRef=name)
        self._again(operator)
        self._each(lambda name: self._is("backup", name, "Completed"), "backups")
        self._write("INSERT INTO notes VALUES ('second')")

    def _restore(self, operator: OperatorProcess) -> None:
        for name in self.ledgers:
            self._apply("Restore", name, backupRef=name)
        jobs = {f"job.batch/restore-{name}" for name in self.ledgers}
        self._until(lambda: jobs & set(self.kubectl.names("jobs")), "the Job of a restore")
        self._again(operator)
        self._each(lambda name: self._is("restore", name, "Switched"), "restores")
        self._each(lambda name: self._rows(name) == "first", "the first entry alone")
        self._each(lambda name: self._has_volume(f"ledger-{name}"), "volumes that are kept")
        for name in self.ledgers:
            self._apply("Restore", name, backupRef=name, confirmed=True)
        self._again(operator)
        self._each(lambda name: not self._has_volume(f"ledger-{name}"), "the end of the old volumes")
        self._write("INSERT INTO notes VALUES ('third')")

    def _refuse(self, operator: OperatorProcess) -> None:
        """Change a byte of each copy."""
        for name, ledger in self.ledgers.items():
            self.kubectl.apply(json.dumps(_spoiler(name, ledger["spec"])))
        self._each(lambda name: self._phase(f"spoil-{name}") == "Succeeded", "corrupt copies")
        for name in self.ledgers:
            self._apply("Restore", f"bad-{name}", backupRef=name)
        self._again(operator)
        self._each(lambda name: self._is("restore", f"bad-{name}", "Refused"), "restores that are refused")
        for name in self.ledgers:
            assert "did NOT match" in json.dumps(self.kubectl.get("restore", f"bad-{name}")["status"])
            assert self._rows(name).split() == ["first", "third"]

    def _delete(self) -> None:
        self.kubectl("delete", "pods", *(f"spoil-{name}" for name in self.ledgers), "--timeout=50s")
        self.kubectl("delete", "restores,backups,ledgers", "--all", "--timeout=50s")
        self._until(lambda: not self.kubectl.names("statefulsets,jobs,pods,pvc"), "the end of all objects")

    def _again(self, operator: OperatorProcess) -> None:
        operator.kill()
        operator.start()

    def _apply(self, kind: str, name: str, **spec: Any) -> None:
        head = {"apiVersion": "ledgers.example.com/v1", "kind": kind, "metadata": {"name": name}}
        self.kubectl.apply(json.dumps({**head, "spec": spec}))

    def _write(self, *statements: str) -> None:
        for name in self.ledgers:
            for statement in statements:
                self._query(name, statement)

    def _query(self, name: str, statement: str) -> str:
        program = ["python3", "-c", _SQLITE, statement]
        if self.ledgers[name]["spec"].get("engine") == "postgresql":
            program = ["psql", "-h", "/data", "-U", "postgres", "-Atqc", statement]
        return self.kubectl("exec", f"{name}-0", "--", *program)

    def _rows(self, name: str, statement: str = _READ) -> str:
        """Return the first column, with blanks between the rows; empty while the application does not run."""
        try:
            return " ".join(self._query(name, statement).split())
        except AssertionError:
            return ""

    def _is(self, kind: str, name: str, reason: str) -> bool:
        conditions = self.kubectl.get(kind, name).get("status", {}).get("conditions", [])
        found = [each["reason"] for each in conditions]
        assert reason in ("Failed", "Refused") or not {"Failed", "Refused"} & set(found), conditions
        return found == [reason]

    def _phase(self, pod: str) -> str:
        return str(self.kubectl.get("pod", pod)["status"].get("phase", ""))

    def _has_volume(self, claim: str) -> bool:
        return f"persistentvolumeclaim/{claim}" in self.kubectl.names("pvc")

    def _each(self, condition: Callable[[str], bool], what: str) -> None:
        self._until(lambda: all(condition(name) for name in self.ledgers), what)

    def _until(self, condition: Callable[[], object], what: str) -> None:
        wait_for(condition, what, LIMIT_S, state=self._state)

    def _state(self) -> str:
        kinds = "ledgers,backups,restores,statefulsets,jobs,pods,pvc,events"
        return "\n" + self.kubectl.run("get", kinds, "-o", "wide").stdout


def _spoiler(name: str, ledger: dict[str, Any]) -> dict[str, Any]:
    """Return a Pod that adds a byte to the copy of a ledger."""
    container = {"name": "main", "image": ledger["image"], "command": ["sh", "-c", "printf x >> /backup/copy"]}
    container["volumeMounts"] = [{"name": "backup", "mountPath": "/backup"}]
    volume = {"name": "backup", "persistentVolumeClaim": {"claimName": f"backup-{name}"}}
    spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [container], "volumes": [volume]}
    if "user" in ledger:
        spec["securityContext"] = {"runAsUser": ledger["user"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"spoil-{name}"}, "spec": spec}
