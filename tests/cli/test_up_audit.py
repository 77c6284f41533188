"""`sampan up` with an audit: the log that it writes, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests.cli.server import NO_LOOPS, START_TIMEOUT_S, failing, running

POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, nonResourceURLs: [/version]}
"""


@pytest.mark.parametrize("mode", ["blocking", "batch"])
def test_requests_are_in_the_log_that_the_options_name(tmp_path: Path, mode: str) -> None:
    policy, log = tmp_path / "policy.yaml", tmp_path / "logs" / "audit.log"
    policy.write_text(POLICY)
    options = [f"--audit-policy-file={policy}", f"--audit-log-path={log}", f"--audit-log-mode={mode}"]
    with running(tmp_path / "data", *options, *NO_LOOPS, "--storage=memory") as server:
        server.get("/version", server.token)
        server.get("/healthz")
        token = server.token
        server.process.terminate()
        assert server.process.wait(START_TIMEOUT_S) == 0  # a batch is written when the server ends, at the latest
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(event["requestURI"], event["user"]["username"]) for event in events] == [("/version", "admin")]
    assert token not in log.read_text()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--audit-policy-file=no-such-file"], "--audit-policy-file: cannot read no-such-file"),
        (
            ["--audit-log-path=-", "--audit-log-mode=batch", "--audit-log-batch-buffer-size=0"],
            "must be a positive number",
        ),
        (["--audit-log-path=-", "--audit-log-truncate-max-batch-size=5"], "must be greater than max event size"),
    ],
    ids=["no policy", "no buffer", "batch smaller than event"],
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: list[str], text: str) -> None:
    code, _, errors = failing(tmp_path, *options)
    assert code != 0
    assert text in errors
