"""Markdown to HTML: headings with anchors, links into the site, words of the glossary, blocks of code, tables."""

import html
import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from scripts.site.code import code_block
from scripts.site.glossary import GLOSSARY, TERMS, Glossary, anchor_of, words_of
from scripts.site.links import Links, is_external
from scripts.site.page import Page
from scripts.site.pictures import size_of
from scripts.site.places import html_of, relative
from scripts.site.signatures import with_links

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_BREAK: Final = re.compile(r"(?<=[a-z0-9][_/])(?=[a-z])|(?<=[a-z]{3})(?=[A-Z][a-z]{2})|(?<=[a-z]\.)(?=[a-z]{3})")
"""Places where a long name may continue on the next line."""
_SOURCE: Final = re.compile(r"""(<(?:img|source) [^>]*?\b(?:src|srcset)=")([^":]+)(")""")
_OPTION: Final = re.compile(r"(?<!\S)--\w+")
_UNBROKEN: Final = r'<span class="option">\g<0></span>'
_NO_TERMS: Final = frozenset({"heading_open", "th_open"})

Environment = MutableMapping[str, Any]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page."""

    level: int
    text: str
    anchor: str


@dataclass
class Rendered:
    """HTML of a page, and its parts for the search and the table of contents."""

    html: str
    headings: list[Heading] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """Prose of the page, in pieces."""


class BadHeading(Exception):
    """The headings of a page are in no order. The message names page and heading."""


def render(page: Page, links: Links, glossary: Glossary) -> Rendered:
    """Return the HTML of a page. Raises `BrokenLink` and `BadHeading`."""
    tokens = _MARKDOWN.parse(page.text)
    rendered = Rendered("")
    _add_anchors(page, tokens, rendered)
    _point_links(page, tokens, links)
    _point_pictures(page, tokens, links)
    if page.path in (GLOSSARY, TERMS):
        _name_rows(tokens)
    else:
        _link_terms(page, tokens, glossary)
    rendered.words = [token.content for token in tokens if token.type == "inline"]
    rendered.html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {"page": page, "drawn": links.drawn})
    return rendered


def slug(text: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _add_anchors(page: Page, tokens: Sequence[Token], rendered: Rendered) -> None:
    used: dict[str, int] = {}
    level = 0
    for number, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        text = "".join(each.content for each in tokens[number + 1].children or ())
        now = int(token.tag[1:])
        if now > level + 1 or (now == 1 and level):
            raise BadHeading(f"{page.source}: heading {text!r} of level {now} follows one of level {level}")
        level = now
        anchor = slug(text)
        used[anchor] = used.get(anchor, -1) + 1
        if used[anchor]:
            anchor = f"{anchor}-{used[anchor]}"
        token.attrSet("id", anchor)
        rendered.headings.append(Heading(level, text, anchor))


def _point_links(page: Page, tokens: Sequence[Token], links: Links) -> None:
    for token in _inner(tokens):
        name = "href" if token.type == "link_open" else "src"
        address = token.attrGet(name)
        if token.type not in ("link_open", "image") or not isinstance(address, str):
            continue
        if is_external(address):
            token.attrSet("rel", "noopener")
        elif address.startswith("#"):
            continue
        else:
            token.attrSet(name, relative(links.target(page, address), page.html))
            token.meta["file"] = address


def _point_pictures(page: Page, tokens: Sequence[Token], links: Links) -> None:
    """Point the files of `<picture>` to their places."""
    for token in tokens:
        if token.type == "html_block":
            token.content = pictures_in(token.content, lambda href: relative(links.target(page, href), page.html))


def pictures_in(text: str, place: Callable[[str], str]) -> str:
    """Return HTML with other addresses of its pictures."""
    return _SOURCE.sub(lambda match: match[1] + place(match[2]) + match[3], text)


def _inner(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


def _name_rows(tokens: Sequence[Token]) -> None:
    """Give the rows of the glossary the anchors of their words."""
    used: set[str] = set()
    for number, token in enumerate(tokens):
        if token.type == "tr_open" and tokens[number + 1].type == "td_open":
            cell = tokens[number + 2]
            words = [word for word in words_of(cell.content) if word not in used]
            used.update(words)
            anchors = "".join(f'<span id="{anchor_of(word)}"></span>' for word in words)
            cell.children = [Token("html_inline", "", 0, content=anchors), *(cell.children or ())]


def _link_terms(page: Page, tokens: Sequence[Token], glossary: Glossary) -> None:
    """Make a link of the first use of each word of the glossary, except in headings, links and code."""
    used: set[str] = set()
    for number, token in enumerate(tokens):
        if token.type == "inline" and tokens[number - 1].type not in _NO_TERMS:
            token.children = list(_with_terms(page, token.children or (), glossary, used))


def _with_terms(page: Page, children: Sequence[Token], glossary: Glossary, used: set[str]) -> Iterator[Token]:
    links = 0
    for child in children:
        links += child.nesting if child.type in ("link_open", "link_close") else 0
        if child.type != "text" or links:
            yield child
            continue
        start = 0
        for match in glossary.pattern.finditer(child.content):
            word = match[1].lower()
            if word not in used:
                used.add(word)
                yield _text(child.content[start : match.start()])
                yield from _term(page, match[0], word, glossary)
                start = match.end()
        yield _text(child.content[start:])


def _term(page: Page, shown: str, word: str, glossary: Glossary) -> Iterator[Token]:
    address = relative(html_of(glossary.page), page.html) + "#" + glossary.anchor(word)
    attributes: dict[str, str | int | float] = {"href": address, "class": "term", "title": glossary.meanings[word]}
    yield Token("link_open", "a", 1, attrs=attributes)
    yield _text(shown)
    yield Token("link_close", "a", -1)


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _heading_close(
    _: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: Environment
) -> str:
    tag, anchor = tokens[number].tag, tokens[number - 2].attrGet("id")
    if tag == "h1":
        return "</h1>\n"
    title = html.escape("".join(each.content for each in tokens[number - 1].children or ()))
    return f' <a class="anchor" href="#{anchor}" aria-label="Link to {title}">#</a></{tag}>\n'


def _fence(_: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: Environment) -> str:
    token = tokens[number]
    language = token.info.split()[0] if token.info.strip() else ""
    block = code_block(token.content, "sh" if token.type == "code_block" else language)
    is_signature = language == "python" and number > 2 and tokens[number - 1].type == "heading_close"
    return with_links(env["page"], tokens[number - 2].content, block) if is_signature else block


def _code(_: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: Environment) -> str:
    code = _BREAK.sub("<wbr>", html.escape(tokens[number].content, quote=False))
    return f"<code>{_OPTION.sub(_UNBROKEN, code)}</code>"


def _comment(_: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: Environment) -> str:
    content = tokens[number].content
    return "" if content.startswith("<!--") else content


def _table_open(_: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: Environment) -> str:
    return '<div class="table"><table>\n'


def _table_close(_: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: Environment) -> str:
    return "</table></div>\n"


def _image(renderer: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: Environment) -> str:
    token = tokens[number]
    alt = html.escape(renderer.renderInlineAsText(token.children or [], options, env))
    source = html.escape(str(token.attrGet("src")))
    page: Page = env["page"]
    size = size_of(page, str(token.meta.get("file", "")), env["drawn"])
    return f'<span class="picture" role="group" aria-label="{alt}"><img src="{source}" alt="{alt}"{size}></span>'


_RULES: Final = {
    "heading_close": _heading_close,
    "fence": _fence,
    "code_inline": _code,
    "code_block": _fence,
    "html_block": _comment,
    "table_open": _table_open,
    "table_close": _table_close,
    "image": _image,
}
for _name, _rule in _RULES.items():
    _MARKDOWN.add_render_rule(_name, _rule)
