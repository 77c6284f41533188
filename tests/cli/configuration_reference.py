"""The reference of docs/configuration.md. Run `python -m tests.cli.configuration_reference` to write it."""

from itertools import groupby
from pathlib import Path

from sampan.app.controller_manager.join_settings import JoinSettings, LeaveSettings
from sampan.app.controller_manager.proxy_settings import ProxySettings
from sampan.app.controller_manager.settings import (
    ControllersSettings,
    CsiSettings,
    DnsServerSettings,
    NodesSettings,
    SchedulerSettings,
)
from sampan.app.settings.up import UpSettings
from sampan.cli.apiserver_options import ACCEPTED
from sampan.core.settings import Setting, settings_of

GUIDE = Path(__file__).parents[2] / "docs" / "configuration.md"
HEADING = "## Reference: settings\n"
ROOTS = {
    "sampan controllers": ControllersSettings(),
    "sampan csi": CsiSettings(),
    "sampan dns": DnsServerSettings(),
    "sampan join": JoinSettings(),
    "sampan leave": LeaveSettings(),
    "sampan node": NodesSettings(),
    "sampan proxy": ProxySettings(),
    "sampan scheduler": SchedulerSettings(),
}


def reference() -> str:
    """Return the section with all settings, in groups."""
    lines = [HEADING, "### sampan up\n"]
    options = [each for each in (*settings_of(UpSettings()), *ACCEPTED) if not each.hidden]
    titles = list(dict.fromkeys(each.group for each in options))
    for title, members in groupby(sorted(options, key=lambda each: titles.index(each.group)), lambda each: each.group):
        lines += [f"**{title}**\n", *table(list(members)), ""]
    for command, root in ROOTS.items():
        lines += [f"### {command}\n", *table(list(settings_of(root))), ""]
    return "\n".join(lines).rstrip() + "\n"


def table(options: list[Setting]) -> list[str]:
    rows = ["| setting | value | meaning | default |", "|---|---|---|---|"]
    for each in options:
        names = ", ".join(f"`{name}`" for name in (each.name, *each.aliases))
        cells = (names, f"`{each.kind.metavar}`", each.help, each.default_text)
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |".replace("|  |", "| |"))
    return rows


def write() -> None:
    """Write the section at the end of the guide."""
    text = GUIDE.read_text()
    GUIDE.write_text(text[: text.index(HEADING)] + reference())


if __name__ == "__main__":
    write()
