"""`make cluster`: a server and nodes on separate machines, until Ctrl-C. Then all of it is removed."""

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.cri import image
from tests.e2e.cri.small_cluster import SmallCluster, small_cluster
from tests.machines import missing
from tests.machines.relay import relay

_TEXT = """
A server and {count} nodes are ready. In another terminal:

    export KUBECONFIG={kubeconfig}
    kubectl get nodes
    kubectl create deployment web --image={app} --replicas=4 -- httpd -f -p 8080 -h /etc
    kubectl expose deployment web --port 80 --target-port 8080
    kubectl get pods -o wide

The machines do not reach the internet. The only image is {app} (busybox). To load another one, as an archive:

{load}
Logs: {logs}
Ctrl-C ends the cluster and removes everything.
"""


def main() -> int:
    """Run the cluster until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="make cluster", description=__doc__)
    parser.add_argument("--nodes", type=int, choices=range(1, 10), default=2, metavar="NUMBER")
    count = parser.parse_args().nodes
    lacking = missing()
    if lacking:
        print(f"cannot make a cluster: {lacking}", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _run(count)
    except KeyboardInterrupt:
        return 1
    return 0


def _run(count: int) -> None:
    signals = {signal.SIGINT, signal.SIGTERM}
    with _directory() as root:
        print("starting (about ten seconds)", flush=True)
        with (
            small_cluster(root, [f"node-{number}" for number in range(1, count + 1)]) as cluster,
            relay(cluster.server, cluster.lan.address(0), 6443) as port,
        ):
            # From here on, a second signal does not interrupt the removal.
            signal.pthread_sigmask(signal.SIG_BLOCK, signals)
            print(_text(cluster, root, port), flush=True)
            signal.sigwait(signals)
            print("ending", flush=True)
    print("removed", flush=True)


@contextmanager
def _directory() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="sampan-cluster-"))
    try:
        yield root
    finally:
        shutil.rmtree(root)


def _text(cluster: SmallCluster, root: Path, port: int) -> str:
    """Return what the user reads, and write the kubeconfig for this machine."""
    kubeconfig = root / "kubeconfig"
    content = cluster.kubeconfig.read_text()
    kubeconfig.write_text(content.replace(f"https://{cluster.lan.address(0)}:6443", f"https://127.0.0.1:{port}"))
    kubeconfig.chmod(0o600)
    load = "".join(f"    {node.program('ctr')} -n k8s.io images import IMAGE.tar\n" for node in cluster.nodes)
    logs = " ".join(str(each.root / "sampan.log") for each in cluster.lan.machines)
    return _TEXT.format(count=len(cluster.nodes), kubeconfig=kubeconfig, app=image.APP, load=load, logs=logs)


if __name__ == "__main__":
    sys.exit(main())
