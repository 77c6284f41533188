"""Charts: well formed, readable by screen readers, without external parts, and with the figures of the results."""

import re
from xml.etree import ElementTree

import pytest
from scripts.site.charts import charts
from scripts.site.charts.page import PAGE
from scripts.site.charts.results import NODE, SERVER, TESTING, results
from scripts.site.charts.scales import Linear, Logarithmic, number

from tests.site_reference.generated import generated

SVG = "{http://www.w3.org/2000/svg}"
NAMES = tuple(charts())


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_has_a_title_and_a_description(name: str) -> None:
    root = ElementTree.fromstring(charts()[name])
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert root.get("role") == "img"
    assert len((description.text or "").split()) > 15


def test_the_ids_of_all_charts_differ() -> None:
    ids = re.findall(r' id="([^"]+)"', "".join(charts().values()))
    assert len(ids) == 2 * len(NAMES)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_needs_nothing_from_elsewhere(name: str) -> None:
    text = charts()[name].replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?:|url\(|href|@import|<script", text) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_has_colours_for_dark_pages(name: str) -> None:
    assert "prefers-color-scheme: dark" in charts()[name]
    assert re.findall(r'(?:fill|stroke)="#', charts()[name]) == []


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_outside_of_the_chart(name: str) -> None:
    root = ElementTree.fromstring(charts()[name])
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    for each in root.iter():
        for key, limit in (("x", width), ("x1", width), ("x2", width), ("cx", width)):
            assert 0 <= float(each.get(key, 0)) <= limit
        for key in ("y", "y1", "y2", "cy"):
            assert 0 <= float(each.get(key, 0)) <= height


def test_the_newest_figures_are_written() -> None:
    server, fixture, node = results(SERVER)[-1], results(TESTING), results(NODE)[-1]
    start = [each.figures["start"] for each in fixture if "start" in each.figures][-1]
    assert f">{number(server.figures['get'])}<" in charts()["throughput.svg"]
    assert f">{number(server.figures['memory'])}<" in charts()["memory.svg"]
    assert f">{number(start)}<" in charts()["fixture-start.svg"]
    assert f">{number(node.figures['one'])}<" in charts()["pod-start.svg"]


def test_the_page_shows_every_chart_and_its_table() -> None:
    text = generated()[PAGE]
    assert re.findall(r"!\[[^\]]+\]\(charts/([^)]+)\)", text) == list(NAMES)
    assert text.count("[Table of ") == len(NAMES)


def test_a_linear_scale_has_round_ticks_from_zero() -> None:
    assert Linear(3500, 0, 100).ticks() == [0, 1000, 2000, 3000]
    assert Linear(3500, 100, 0)(1750) == 50


def test_a_logarithmic_scale_has_powers_of_ten() -> None:
    scale = Logarithmic(1, 1000, 0, 90)
    assert list(scale.ticks()) == [1, 10, 100, 1000]
    assert scale(100) == pytest.approx(60)
