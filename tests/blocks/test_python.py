"""Python in the documents runs: the blocks of one without a file name in one namespace, those with one as their files.

A block may use `await`, and the names `cluster` and `client` of a cluster in the process.
"""

import ast
import inspect
import sys
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from sampan.testing import Cluster
from tests.blocks.coverage import run_here
from tests.blocks.document import Block, documents
from tests.journeys.page import file_of

PYTHON = {each: [block for block in run_here(each) if block.language == "python"] for each in documents()}


def compiled(document: str, block: Block) -> CodeType:
    """Return the code of a block, with the line numbers of its document."""
    text = "\n" * (block.line - 1) + block.text
    code: CodeType = compile(text, document, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return code


@pytest.mark.parametrize("document", [each for each, found in PYTHON.items() if found])
async def test_the_python_of_a_document_runs(
    document: str, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    names: dict[str, Any] = {"__name__": "document", "cluster": cluster, "client": cluster.admin()}
    try:
        for block in PYTHON[document]:
            code = compiled(document, block)
            if file := file_of(block):
                path = tmp_path / file.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text)
            elif inspect.isawaitable(result := eval(code, names)):
                await result
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
                del sys.modules[name]
