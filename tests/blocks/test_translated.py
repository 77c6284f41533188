"""Translated pages (`docs/zh-CN` with its folders `book` and `reading`) have the blocks of their sources, which run."""

import pytest

from tests.blocks.document import blocks
from tests.blocks.translated import TRANSLATIONS, code_of, differences, with_blocks_of

SOURCE = """# Boats

    make up        # start a server

```console
$ sampan --version
new
```
"""
PAGE = """---
source: boats.md
---
# 船

    make up        # 启动服务器

```console
$ sampan --version
old
lines
```

完。
"""


@pytest.mark.parametrize("page", sorted(TRANSLATIONS))
def test_a_translated_page_has_the_blocks_of_its_source(page: str) -> None:
    assert list(differences(TRANSLATIONS[page])) == [], "copy the code of the source: make docs-update ARGS=SOURCE"


def test_a_remark_behind_a_command_may_be_translated() -> None:
    ours, theirs = next(blocks(PAGE.splitlines())), next(blocks(SOURCE.splitlines()))
    assert code_of(ours) == code_of(theirs)


def test_changed_code_of_a_source_is_copied_and_remarks_stay() -> None:
    changed = with_blocks_of(PAGE, SOURCE)
    assert changed == PAGE.replace("old\nlines\n", "new\n")


def test_a_page_with_another_number_of_blocks_is_not_changed() -> None:
    page = PAGE + "\n```console\n$ true\n```\n"
    assert with_blocks_of(page, SOURCE) == page
