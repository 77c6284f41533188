"""Pages are read, and their output is compared, as in README.md."""

import pytest

from tests.journeys.page import Command, File, Machine, parse
from tests.journeys.shown import matches

PAGE = """# Title

| machine | has |
|---|---|
| `server` | |
| `node-1` | containerd, `registry.test/app:1` |

```yaml
# web/pod.yaml
kind: Pod
```

```python
print("for readers")
```

```console
$ kubectl apply -f - <<EOF
> kind: Pod
>
> EOF
pod/web created
node-1$ ls /absent
ls: ...
(exit 2)
$ kubectl get pods  # wait until
web$ is no machine
$ sampan up &
```
"""


def test_page_has_machines_files_and_commands() -> None:
    page = parse(PAGE)
    assert page.machines == [
        Machine("server", []),
        Machine("node-1", ["containerd", "registry.test/app:1"]),
    ]
    assert page.steps == [
        File("web/pod.yaml", "kind: Pod\n", 9),
        Command("", "kubectl apply -f - <<EOF\nkind: Pod\n\nEOF", ["pod/web created"], 0, False, 18),
        Command("node-1", "ls /absent", ["ls: ..."], 2, False, 23),
        Command("", "kubectl get pods", ["web$ is no machine"], 0, True, 26),
        Command("", "sampan up &", [], 0, False, 28),
    ]


def test_machine_has_containerd_and_images() -> None:
    server, node = parse(PAGE).machines
    assert (server.has_containerd, server.images) == (False, [])
    assert (node.has_containerd, node.images) == (True, ["registry.test/app:1"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```console\n$ ls\n```", "line 1: no table of machines"),
        ("| `a` | |\n```console\nls\n```", "line 3: a block starts with a command"),
        ("| `a` | |\n```console\n$ ls\n", "line 2: the block has no end"),
    ],
)
def test_error_of_a_page_has_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("shown", "output", "expected"),
    [
        ([], "anything", True),
        (["NAME   READY"], "NAME READY\n", True),
        (["NAME"], "NAME\nweb\n", False),
        (["NAME", "web"], "NAME\n", False),
        (["web ... Running"], "web   1/1  Running", True),
        (["web ... Running"], "web   1/1  Pending", False),
        (["web ... Running"], "web Running", True),
        (["web ... Running"], "web NotRunning", False),
        (["pod/web-... created"], "pod/web-7f created", True),
        (["web ..."], "web", True),
        (["a.b"], "aXb", False),
        (["..."], "", True),
        (["...", "end"], "one\ntwo\nend", True),
        (["...", "end"], "one\nend\ntwo", False),
        (["...", "web", "...", "end"], "web\nend", True),
        (["...", "web", "...", "end"], "web\nother\nweb\nend", True),
        (["start", "..."], "start", True),
        (["start", "..."], "other\nstart", False),
    ],
)
def test_shown_output_is_compared_by_line(shown: list[str], output: str, expected: bool) -> None:
    assert matches(shown, output) == expected
