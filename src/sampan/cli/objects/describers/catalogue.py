"""Describers by kind."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sampan.cli.objects.describers.configuration import CONFIG_MAP, SECRET
from sampan.cli.objects.describers.describer import DescribedObject, Describer
from sampan.cli.objects.describers.events import event_lines
from sampan.cli.objects.describers.generic import GENERIC
from sampan.cli.objects.describers.jobs import CRON_JOB, JOB
from sampan.cli.objects.describers.namespace import NAMESPACE_KIND, SERVICE_ACCOUNT
from sampan.cli.objects.describers.node import NODE
from sampan.cli.objects.describers.pod import POD
from sampan.cli.objects.describers.service import SERVICE
from sampan.cli.objects.describers.storage import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM
from sampan.cli.objects.describers.tabular import align
from sampan.cli.objects.describers.workloads import DAEMON_SET, DEPLOYMENT, REPLICA_SET, STATEFUL_SET
from sampan.resource import Object

DESCRIBERS: Final[Mapping[tuple[str, str], Describer]] = {
    ("v1", "ConfigMap"): CONFIG_MAP,
    ("v1", "Namespace"): NAMESPACE_KIND,
    ("v1", "Node"): NODE,
    ("v1", "PersistentVolume"): PERSISTENT_VOLUME,
    ("v1", "PersistentVolumeClaim"): PERSISTENT_VOLUME_CLAIM,
    ("v1", "Pod"): POD,
    ("v1", "Secret"): SECRET,
    ("v1", "Service"): SERVICE,
    ("v1", "ServiceAccount"): SERVICE_ACCOUNT,
    ("apps/v1", "DaemonSet"): DAEMON_SET,
    ("apps/v1", "Deployment"): DEPLOYMENT,
    ("apps/v1", "ReplicaSet"): REPLICA_SET,
    ("apps/v1", "StatefulSet"): STATEFUL_SET,
    ("batch/v1", "CronJob"): CRON_JOB,
    ("batch/v1", "Job"): JOB,
}


def describer_of(obj: Object) -> Describer:
    """Return the describer of an object's kind, or the generic one."""
    return DESCRIBERS.get((obj.get("apiVersion", ""), obj.get("kind", "")), GENERIC)


def description(subject: DescribedObject, events: Sequence[Object] | None) -> list[str]:
    """Return the lines of a description. `events` None: without a table of events."""

    def lines() -> Iterator[str]:
        for section in describer_of(subject.obj).sections:
            yield from section(subject)
        if events is not None:
            yield from event_lines(events, subject.now)

    return align(lines())
