"""The reference that is generated from the code: commands, kinds, settings, metrics, errors, and benchmarks.

    pages()         # path in the site -> Markdown
    inventory()     # objects.inv

Links between pages are relative. A page has the place of a file of the same path in `docs`.
"""

from scripts.site.charts.page import PAGE as BENCHMARKS
from scripts.site.charts.page import benchmarks_page
from scripts.site.reference import commands, kinds
from scripts.site.reference.errors import PAGE as ERRORS
from scripts.site.reference.errors import errors_page
from scripts.site.reference.inventory import inventory
from scripts.site.reference.metrics import PAGE as METRICS
from scripts.site.reference.metrics import metrics_page
from scripts.site.reference.settings import PAGE as SETTINGS
from scripts.site.reference.settings import settings_page

__all__ = ["inventory", "pages"]


def pages() -> dict[str, str]:
    """Return all generated pages by their paths in the site."""
    return {
        **commands.pages(),
        SETTINGS: settings_page(),
        **kinds.pages(),
        METRICS: metrics_page(),
        ERRORS: errors_page(),
        BENCHMARKS: benchmarks_page(),
    }
