"""`end_job`: ends a Job without the loops that run Pods, for tests of operators that wait for Jobs."""

from typing import Any, Final

from sampan.core.time import timestamp
from sampan.operator.owners.references import set_controller_reference
from sampan.resource import Object
from sampan.testing.cluster import Cluster
from sampan.testing.predicates import exists

_UID_LABEL: Final = "batch.kubernetes.io/controller-uid"


async def end_job(cluster: Cluster, name: str, *, message: str = "", exit_code: int = 0, namespace: str = "") -> None:
    """Wait for a Job, and let it end as a node and the Job controller do: its Pod reports, then the Job has ended.

    `message` is the text in `/dev/termination-log`; an exit code other than 0 fails the Job. With `loops="chain"`, use
    `cluster.pods.complete` instead. Raises `NotMet` if there is no such Job.
    """
    place = namespace or None
    job = await cluster.eventually(f"jobs.batch/{name}", exists(), namespace=place)
    pod = _pod(job)
    await cluster.apply(pod)
    end = {"exitCode": exit_code, "reason": "Error" if exit_code else "Completed", "message": message}
    container = {"name": pod["spec"]["containers"][0]["name"], "image": "", "imageID": "", "restartCount": 0}
    container |= {"ready": False, "state": {"terminated": end}}
    status = {"phase": "Failed" if exit_code else "Succeeded", "containerStatuses": [container]}
    await cluster.patch(f"pods/{name}", {"status": status}, namespace=place, subresource="status")
    ended = _status(timestamp(cluster.clock), exit_code)
    await cluster.patch(f"jobs.batch/{name}", {"status": ended}, namespace=place, subresource="status")


def _pod(job: Object) -> Object:
    metadata = job["metadata"]
    labels = {**job["spec"]["template"]["metadata"].get("labels", {}), _UID_LABEL: metadata["uid"]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"], "labels": labels},
        "spec": job["spec"]["template"]["spec"],
    }
    set_controller_reference(job, pod)
    return pod


def _status(now: str, exit_code: int) -> dict[str, Any]:
    kinds = ("FailureTarget", "Failed") if exit_code else ("SuccessCriteriaMet", "Complete")
    reason = "BackoffLimitExceeded" if exit_code else "CompletionsReached"
    times = {"lastProbeTime": now, "lastTransitionTime": now}
    conditions = [{"type": kind, "status": "True", "reason": reason, **times} for kind in kinds]
    counts = {"failed": 1} if exit_code else {"succeeded": 1, "completionTime": now}
    return {"startTime": now, "conditions": conditions, **counts}
