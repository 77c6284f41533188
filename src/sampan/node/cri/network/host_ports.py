"""`HostPorts`: restores the rules for the host ports of running Pods.

The CNI plug-in portmap writes these rules when a Pod starts. If another program deletes them, for example with `nft
flush ruleset`, the plug-in writes them again: its command ADD does not fail if they exist. Its command CHECK is not
usable: for a Pod with addresses of both families it fails always (1.1).

Concurrency: `PodNetwork` calls `keep` from one task. The runtime may remove a Pod meanwhile, so rules that were written
for a Pod that is gone are removed afterwards.
Source: CNI specification 1.0 "ADD", "DEL"; containernetworking plugins portmap.
"""

import json
import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from sampan.node.cri.network.attachments import Attachment
from sampan.node.programs import run, run_plugin

PLUGIN: Final = "portmap"
_LISTINGS: Final = (
    ("iptables", "-w", "-t", "nat", "-S"),
    ("ip6tables", "-w", "-t", "nat", "-S"),
    ("nft", "-s", "list", "table", "inet", "cni_hostport"),
)
"""Commands that list the rules of all versions of the plug-in. One that fails lists nothing."""
_OWN: Final = re.compile(r"^nft |CNI-HOSTPORT|CNI-DN-")
_OF_A_POD: Final = re.compile(r"CNI-DN-|\bdnat\b|\bid: ")
_WRITES_MAX: Final = 3
_log = logging.getLogger("sampan.node")


class HostPorts:
    """Rules for the host ports of one node."""

    def __init__(self) -> None:
        self._written: dict[str, frozenset[str]] = {}
        """Rules of each sandbox, as the kernel listed them after they were written."""
        self._attachments: dict[str, Attachment] = {}
        self._logged = ""

    def forget(self) -> None:
        """Write all rules again at the next call of `keep`."""
        self._written.clear()

    async def keep(self, running: Sequence[Attachment], directories: Sequence[Path]) -> None:
        """Write the rules that are missing. `directories`: places of CNI plug-ins.

        A failure for one Pod is logged, and does not affect other Pods.
        """
        desired = {each.container: each for each in running if each.ports}
        for container in self._attachments.keys() - desired.keys():
            await self._call("DEL", self._attachments.pop(container), directories)
            self._written.pop(container, None)
        if not desired:
            return
        current = await _rules()
        absent = [each for each in desired.values() if not self._is_complete(each, current)]
        self._attachments |= {each.container: each for each in absent}
        previous = await self._write(absent, directories)
        for _ in range(_WRITES_MAX if absent else 0):
            # Another program may have deleted a rule before it was listed. Two equal lists have all rules.
            current = await self._write(absent, directories)
            if not current ^ previous:
                self._written |= {each.container: _rules_of(each, current) for each in absent}
                return
            previous = current

    async def _write(self, absent: Sequence[Attachment], directories: Sequence[Path]) -> frozenset[str]:
        """Write the rules of Pods, and return all rules."""
        for each in absent:
            await self._call("ADD", each, directories)
        return await _rules() if absent else frozenset()

    def _is_complete(self, attachment: Attachment, current: frozenset[str]) -> bool:
        written = self._written.get(attachment.container)
        return written is not None and written <= current

    async def _call(self, command: str, attachment: Attachment, directories: Sequence[Path]) -> None:
        try:
            await _call(command, attachment, directories)
        except OSError as error:
            if str(error) != self._logged:
                self._logged = str(error)
                _log.warning(
                    "cannot restore the host ports of a pod: %s", error, extra={"sandbox": attachment.container}
                )


async def _rules() -> frozenset[str]:
    found: list[str] = []
    for program, *words in _LISTINGS:
        try:
            lines = (await run(program, *words)).splitlines()
        except OSError:
            continue
        found += [f"{program} {line.strip()}" for line in lines]
    return frozenset(filter(_OWN.search, found))


def _rules_of(attachment: Attachment, current: frozenset[str]) -> frozenset[str]:
    """Return the rules of a Pod, and those that all Pods share."""
    named = {attachment.container}
    for line in current:
        if attachment.container in line:
            named |= set(re.findall(r"CNI-DN-\w+", line))
    return frozenset(line for line in current if not _OF_A_POD.search(line) or any(name in line for name in named))


async def _call(command: str, attachment: Attachment, directories: Sequence[Path]) -> None:
    """Run the plug-in. Raises `OSError`."""
    plugins: Sequence[dict[str, Any]] = attachment.configuration.get("plugins") or ()
    plugin = next((each for each in plugins if each.get("type") == PLUGIN), None)
    program = next((each / PLUGIN for each in directories if (each / PLUGIN).exists()), None)
    if plugin is None or program is None:
        return  # The check of plug-ins reports it.
    configuration = {
        **plugin,
        "name": attachment.configuration["name"],
        "cniVersion": attachment.configuration["cniVersion"],
        "runtimeConfig": {"portMappings": attachment.ports},
        "prevResult": attachment.result,
    }
    environment = {
        "CNI_COMMAND": command,
        "CNI_CONTAINERID": attachment.container,
        "CNI_NETNS": attachment.namespace,
        "CNI_IFNAME": attachment.interface,
        "CNI_PATH": ":".join(map(str, directories)),
    }
    await run_plugin(program, {**os.environ, **environment}, json.dumps(configuration))
