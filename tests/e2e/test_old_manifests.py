"""Manifests of versions that Kubernetes serves no more, and Sampan does."""

import pytest

from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

CRON_JOB = """
apiVersion: batch/{version}
kind: CronJob
metadata:
  name: hello
spec:
  schedule: "*/1 * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          containers:
          - name: hello
            image: busybox
            args: [/bin/sh, -c, date]
          restartPolicy: OnFailure
"""


@pytest.mark.parametrize("version", ["v1beta1", "v2alpha1"])
def test_old_cron_jobs_are_applied(kubectl: Kubectl, version: str) -> None:
    manifest = CRON_JOB.format(version=version)
    done = kubectl.run("apply", "-f", "-", stdin=manifest)
    assert (done.returncode, done.stdout) == (0, "cronjob.batch/hello created\n")
    assert f"batch/{version} CronJob is deprecated" in done.stderr
    assert kubectl.apply(manifest) == "cronjob.batch/hello unchanged"
    assert "configured" in kubectl.apply(manifest.replace("*/1", "*/5"))
    found = kubectl.get("cronjob", "hello")
    assert (found["apiVersion"], found["spec"]["schedule"]) == ("batch/v1", "*/5 * * * *")
    old = kubectl.get(f"cronjobs.{version}.batch", "hello")
    assert old["apiVersion"] == f"batch/{version}"
    assert old["spec"]["concurrencyPolicy"] == "Allow"
    kubectl("delete", "-f", "-", stdin=manifest)
    assert kubectl.names("cj") == []


@pytest.mark.parametrize("version", ["v1beta1", "v2alpha1"])
def test_old_cron_jobs_are_created_listed_and_explained(kubectl: Kubectl, version: str) -> None:
    kubectl("create", "-f", "-", stdin=CRON_JOB.format(version=version))
    header, row = kubectl("get", f"cronjobs.{version}.batch").splitlines()
    assert header.split()[:3] == ["NAME", "SCHEDULE", "TIMEZONE"]
    assert row.startswith("hello   */1 * * * *")
    assert f"VERSION:    {version}" in kubectl("explain", "cronjob.spec", f"--api-version=batch/{version}")


def test_old_cron_jobs_with_unknown_fields_are_refused(kubectl: Kubectl) -> None:
    manifest = CRON_JOB.format(version="v1beta1").replace("schedule:", "scheduel:")
    message = kubectl.fails("apply", "-f", "-", stdin=manifest)
    assert message.endswith(
        'CronJob in version "v1beta1" cannot be handled as a CronJob: strict decoding error: '
        'unknown field "spec.scheduel"'
    )
