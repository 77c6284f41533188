"""`OutputFormat`: the value of `-o`."""

from dataclasses import dataclass
from pathlib import Path

import click

from sampan.cli.objects.custom_columns import CustomColumns
from sampan.cli.objects.jsonpath_template import JsonPathTemplate

PLAIN = ("json", "yaml", "name", "wide")
_TEMPLATED = ("custom-columns", "custom-columns-file", "jsonpath", "jsonpath-as-json", "jsonpath-file")
_OF_KUBECTL = ("go-template", "go-template-file", "template", "templatefile", "kyaml")
HELP = (
    "json, yaml, name, wide, jsonpath=…, jsonpath-file=…, jsonpath-as-json=…, custom-columns=… or custom-columns-file=…"
)


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """Output format, with its template or columns. `name` is empty for tables."""

    name: str = ""
    template: JsonPathTemplate | None = None
    columns: CustomColumns | None = None

    @property
    def is_table(self) -> bool:
        """Return True if the output is a table of the server's columns."""
        return self.name in ("", "wide")


def take_format(ctx: click.Context, param: click.Parameter, text: str | None) -> OutputFormat:
    """Parse the value `name` or `name=template` of the option `-o`, as click's callback."""
    try:
        return _format_of(text) if text else OutputFormat()
    except OSError as error:
        raise click.BadParameter(f"{error.filename}: {error.strerror}", ctx, param) from error
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def _format_of(text: str) -> OutputFormat:
    name, _, argument = text.partition("=")
    if name in PLAIN and not argument:
        return OutputFormat(name)
    if name in _OF_KUBECTL:
        raise ValueError(f"unsupported format {name}: use jsonpath=…, or `kubectl get -o {name}…`")
    if name not in _TEMPLATED:
        raise ValueError(
            f'unable to match a printer suitable for the output format "{text}", allowed formats are: '
            f"{','.join(sorted((*PLAIN, *_TEMPLATED)))}"
        )
    if not argument:
        raise ValueError(f"the format {name} needs a template: -o {name}=…")
    if name.endswith("-file"):
        argument = Path(argument).read_text()
    if name == "custom-columns":
        return OutputFormat(name, columns=CustomColumns.of(argument))
    if name == "custom-columns-file":
        return OutputFormat(name, columns=CustomColumns.of_template(argument))
    try:
        return OutputFormat(name, template=JsonPathTemplate(argument))
    except ValueError as error:
        raise ValueError(f"error parsing jsonpath {argument}, {error}") from error
