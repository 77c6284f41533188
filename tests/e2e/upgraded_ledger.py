"""A ledger whose schema and version change together: the story of example 12 on nodes of any kind."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from sampan.resource.crd import crd_of
from tests.e2e.kubectl import Kubectl
from tests.examples.operator_process import EXAMPLES, OperatorProcess, operating
from tests.machines import wait_for
from upgrades.ledger import v1, v1alpha1
from upgrades.migration.v1 import Migration

EXAMPLE = "12-upgrade-with-schema"
LIMIT_S = 150
LEDGER = "ledgers.upgrades.example.com/tea"
OLD_LEDGER = "ledgers.v1alpha1.upgrades.example.com/tea"
_QUERY = """import os, sqlite3, sys
ledger = sqlite3.connect(os.environ["LEDGER_FILE"], timeout=60, isolation_level=None)
print(*(row for row in ledger.execute(sys.argv[1])))"""
_BAD = {"tea-3-4": (3, 4, "DROP TABLE entries"), "tea-3-5": (3, 5, "INSERT INTO nowhere VALUES (1)")}


def sample(**fields: Any) -> dict[str, Any]:
    """Return the ledger of the samples, with other fields in its spec."""
    found: dict[str, Any] = yaml.safe_load((EXAMPLES / EXAMPLE / "samples/ledger.yaml").read_text())
    found["spec"].update(fields)
    return found


class Story:
    """A cluster with the operator, which is killed in each phase."""

    def __init__(self, kubectl: Kubectl, enter: Sequence[str] = ()) -> None:
        """`enter`: command that runs another command on the machine of the cluster; empty for this one."""
        self.kubectl = kubectl
        self._enter = enter
        self._crds = [crd_of(v1.Ledger, v1alpha1.Ledger), crd_of(Migration)]

    def run(self, ledger: dict[str, Any], log: Path) -> None:
        """Upgrade over two steps, fail in two ways, and read the data after each of them."""
        for crd in self._crds:
            self.kubectl.apply(json.dumps(crd))
            self.kubectl("wait", "--for=condition=Established", f"crd/{crd['metadata']['name']}")
        for file in ("config/conversion.yaml", "samples/migrations.yaml"):
            self.kubectl.apply((EXAMPLES / EXAMPLE / file).read_text())
        for name, (start, end, sql) in _BAD.items():
            self.kubectl.apply(json.dumps(_migration(name, fromVersion=start, toVersion=end, sql=sql)))
        environment = {"KUBECONFIG": self.kubectl.environment["KUBECONFIG"]}
        with operating(EXAMPLE, "upgrades", environment, log, self._enter) as operator:
            self.kubectl.apply(json.dumps(ledger))
            self._until(
                lambda: self._phase() == "Done" and self._rows("SELECT 1 FROM entries UNION SELECT 1"),
                "the first version",
            )
            self._query("INSERT INTO entries VALUES (7)")
            self._upgrade(operator)
            self._fail()
        self.kubectl("delete", LEDGER, "--timeout=50s")
        self._until(lambda: not self.kubectl.names("statefulsets,jobs,pods,pvc"), "the end of all objects")
        self.kubectl("delete", "crd", *(each["metadata"]["name"] for each in self._crds), "--timeout=50s")

    def _upgrade(self, operator: OperatorProcess) -> None:
        """Upgrade over the old version of the API."""
        self.kubectl("patch", OLD_LEDGER, "--type=merge", "-p", '{"spec":{"schemaVersion":3}}')
        phases = ["Done"]
        while len(phases) == 1 or phases[-1] != "Done":
            self._until(lambda: self._phase() != phases[-1], f"the phase after {phases[-1]}")
            phases.append(self._phase())
            operator.kill()
            operator.start()
        assert {"RollBack", "RolledBack"}.isdisjoint(phases)
        assert self._status()["version"] == 3
        self._until(lambda: self._rows("SELECT * FROM entries") == "(7, 'CNY')", "the data in the new schema")
        assert self._query("SELECT * FROM totals") == "('CNY', 7)"
        assert self.kubectl.get(OLD_LEDGER)["spec"]["schemaVersion"] == 3

    def _fail(self) -> None:
        for version, reason in ((4, "version 4 does not serve"), (5, "no such table: nowhere")):
            patch = {"spec": {"version": version, "verifySeconds": 4}}
            self.kubectl("patch", LEDGER, "--type=merge", "-p", json.dumps(patch))
            self._until(partial(self._is_rolled_back, version), reason)
            [condition] = self._status()["conditions"]
            assert reason in condition["message"], condition
            self._until(lambda: self._rows("SELECT * FROM entries") == "(7, 'CNY')", "the data of the old version")

    def _is_rolled_back(self, version: int) -> bool:
        status = self._status()
        return (status["phase"], status["target"]) == ("RolledBack", version)

    def _status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.kubectl.get(LEDGER).get("status", {})
        return found

    def _phase(self) -> str:
        return str(self._status().get("phase", ""))

    def _query(self, statement: str) -> str:
        return self.kubectl("exec", "tea-0", "--", "python3", "-c", _QUERY, statement)

    def _rows(self, statement: str) -> str:
        """Return rows; nothing while the application does not run."""
        done = self.kubectl.run("exec", "tea-0", "--", "python3", "-c", _QUERY, statement)
        return done.stdout.strip()

    def _until(self, condition: Callable[[], object], what: str) -> None:
        wait_for(condition, what, LIMIT_S, state=self._state)

    def _state(self) -> str:
        kinds = f"{LEDGER.partition('/')[0]},statefulsets,jobs,pods,pvc,events"
        return "\n" + self.kubectl.run("get", kinds, "-o", "wide").stdout


def _migration(name: str, **spec: Any) -> dict[str, Any]:
    head = {"apiVersion": "upgrades.example.com/v1", "kind": "Migration", "metadata": {"name": name}}
    return {**head, "spec": {"ledgerRef": "tea", **spec}}
