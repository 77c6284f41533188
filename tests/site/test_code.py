"""Code in prose: long names may continue on the next line, and dashes of options may not end one."""

import re

from scripts.site.glossary import Glossary
from scripts.site.links import Links
from scripts.site.page import Page
from scripts.site.render import render


def code(text: str) -> str:
    """Return the HTML of some code in a paragraph."""
    page = Page("a.md", "docs/a.md", f"# A\n\n`{text}`\n")
    [found] = re.findall(r"<code>(.*)</code>", render(page, Links.among([page]), Glossary({})).html)
    return str(found)


def test_a_long_name_may_break_between_its_words() -> None:
    assert code("apiserver_admission_total") == "apiserver_<wbr>admission_<wbr>total"
    assert code("AnnotationChanged") == "Annotation<wbr>Changed"
    assert code("kubectl get") == "kubectl get"


def test_the_dashes_of_an_option_keep_its_first_word() -> None:
    assert code("--bind-address TEXT") == '<span class="option">--bind</span>-address TEXT'
    assert code("a--b") == "a--b"
