"""Accessibility of a page in a browser, by the rules of axe-core."""

from typing import Final

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

RULES: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_RUN: Final = """async ([part, values, coloursOnly]) => {
  const left = coloursOnly ? axe.getRules().filter(({ tags }) => !tags.includes("cat.color")) : [];
  const rules = Object.fromEntries(left.map(({ ruleId }) => [ruleId, { enabled: false }]));
  const options = { runOnly: { type: "tag", values }, rules, resultTypes: ["violations"] };
  const { violations } = await axe.run(part, options);
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0].html.slice(0, 300)}`);
}"""
_IS_SAME: Final = """(part) => {
  const elements = [...document.querySelectorAll("*")].map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const { display, visibility, opacity, position, overflow, pointerEvents, fontSize } = getComputedStyle(element);
    const styles = [display, visibility, opacity, position, overflow, pointerEvents, fontSize];
    return [x, y, width, height, element.scrollWidth, element.scrollHeight, element.value, ...styles].join();
  });
  const texts = document.documentElement.outerHTML.replace(/\\d+/g, "#"); // ages change each second
  const found = [part, innerWidth, innerHeight, texts, ...elements].join("\\n");
  const isSame = found === window.foundByAccessibilityTests;
  window.foundByAccessibilityTests = found;
  return isSame;
}"""


def violations(page: Page, part: str = "html", *, colours_only: bool = False) -> list[str]:
    """Return the rules that a part of a page breaks, each with the first element.

    `colours_only`: check only the rules that read colours, such as the contrast of texts.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(_RUN, [part, RULES, colours_only])
    return found


def violations_in_theme(page: Page, part: str = "html") -> list[str]:
    """Return the rules that a part of a page breaks, after a change of its theme.

    Rules that do not read colours are not checked again for the same elements, places and sizes as in the last call.
    """
    return violations(page, part, colours_only=page.evaluate(_IS_SAME, part))
