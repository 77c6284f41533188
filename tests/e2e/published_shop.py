"""A Shop whose Service is published in DNS and in HAProxy: the story of examples 10 and 13 on nodes of any kind."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from publications.publication.v1 import Publication
from sampan.resource.crd import crd_of
from shops.shop.v1 import Shop
from tests.e2e.kubectl import Kubectl
from tests.examples.operator_process import EXAMPLES, operating
from tests.examples.publication.servers import KEY, haproxy, named
from tests.machines import wait_for

LIMIT_S = 150
_FETCH = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode(), end='')"
_LOOK_UP = """
import sys, dns.message, dns.query
response = dns.query.tcp(dns.message.make_query(sys.argv[1], "A"), "127.0.0.1", port=int(sys.argv[2]), timeout=20)
print(*sorted({data.to_text() for found in response.answer for data in found}), end="")
"""
_PUBLICATIONS = """
apiVersion: publications.example.com/v1
kind: Publication
metadata: {name: in-dns}
spec: {serviceRef: {name: example}, target: dns, name: shop.example.org}
---
apiVersion: publications.example.com/v1
kind: Publication
metadata: {name: in-haproxy}
spec: {serviceRef: {name: example}, target: haproxy, name: shop}
"""


def sample(**fields: Any) -> dict[str, Any]:
    """Return the sample of the example, with other fields in its spec."""
    found: dict[str, Any] = yaml.safe_load((EXAMPLES / "10-deploy-on-demand/samples/shop.yaml").read_text())
    found["spec"].update(fields)
    return found


class Story:
    """A cluster with both operators, seen from one of its machines."""

    def __init__(self, kubectl: Kubectl, enter: Sequence[str] = ()) -> None:
        """`enter`: command that runs another command on the machine; empty for this one."""
        self.kubectl = kubectl
        self._enter = enter

    def run(self, shop: dict[str, Any], logs: Path) -> None:
        """Deploy, publish, change, withdraw and delete."""
        for declared in (Shop, Publication):
            self.kubectl.apply(json.dumps(crd_of(declared)))
            self._ready("crd", crd_of(declared)["metadata"]["name"], "Established")
        kubeconfig = {"KUBECONFIG": self.kubectl.environment["KUBECONFIG"]}
        with named(self._enter) as bind, haproxy(self._enter) as balancer:
            targets = {"PUBLISH_DNS": f"127.0.0.1:{bind.port}/example.org", "PUBLISH_DNS_KEY": KEY}
            targets["PUBLISH_HAPROXY"] = str(balancer.folder / "haproxy.sock")
            with (
                operating("10-deploy-on-demand", "shops", kubeconfig, logs / "shops.log", self._enter),
                operating("13-publish", "publications", kubeconfig | targets, logs / "pubs.log", self._enter),
            ):
                self._life(shop, bind.port, balancer.port)

    def _life(self, shop: dict[str, Any], dns_port: int, http_port: int) -> None:
        self.kubectl.apply(json.dumps(shop))
        self.kubectl.apply(_PUBLICATIONS)
        self._ready("shop", "example")
        self._ready("publication", "in-dns")
        self._until(lambda: self._fetch(http_port) == "welcome", "the greeting, through HAProxy")
        self._until(lambda: self._look_up(dns_port) == self._pod_addresses() != "", "the addresses of the Pods in DNS")

        self.kubectl(
            "patch", "shop", "example", "--type=merge", "-p", '{"spec":{"settings":{"GREETING":"good night"}}}'
        )
        self._until(lambda: self._fetch(http_port) == "good night", "the new greeting")
        self._until(self._is_rolled_out, "the end of the rollout")
        revisions = self.kubectl.get("replicasets", "-l", "shops.example.com/shop=example")["items"]
        assert len(revisions) == 2, "settings that change once restart the Pods once"

        self.kubectl("delete", "publications", "--all", "--timeout=50s")
        assert (self._look_up(dns_port), self._fetch(http_port)) == ("", "")
        self.kubectl("delete", "shop", "example", "--timeout=50s")
        kinds = "deployments,replicasets,pods,services,configmaps,ingresses"
        self._until(
            lambda: not self.kubectl.names(kinds, "-l", "shops.example.com/shop=example"), "the end of all objects"
        )

    def _is_rolled_out(self) -> bool:
        shop = self.kubectl.get("shop", "example")
        ready = next(each for each in shop["status"]["conditions"] if each["type"] == "Ready")
        return bool(ready["status"] == "True" and ready["observedGeneration"] == shop["metadata"]["generation"])

    def _pod_addresses(self) -> str:
        pods = self.kubectl.get("pods", "-l", "shops.example.com/shop=example")["items"]
        return " ".join(sorted({each["status"].get("podIP", "") for each in pods}))

    def _fetch(self, port: int) -> str:
        return self._output(_FETCH, f"http://127.0.0.1:{port}/")

    def _look_up(self, port: int) -> str:
        return self._output(_LOOK_UP, "shop.example.org.", str(port))

    def _output(self, script: str, *arguments: str) -> str:
        """Return what a script prints on the machine; empty if it fails."""
        command = [*self._enter, sys.executable, "-c", script, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout

    def _ready(self, kind: str, name: str, condition: str = "Ready") -> None:
        command = ("wait", f"--for=condition={condition}", f"{kind}/{name}", "--timeout=10s")
        self._until(lambda: self.kubectl.run(*command).returncode == 0, f"{kind} {name}")

    def _until(self, condition: Any, what: str) -> None:
        wait_for(condition, what, LIMIT_S, state=self._state)

    def _state(self) -> str:
        return "\n" + self.kubectl.run("get", "shops,publications,pods,events", "-o", "wide").stdout
