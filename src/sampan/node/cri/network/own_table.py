"""`OwnTable`: a small table of nftables that belongs to this program."""

from sampan.node.programs import run


class OwnTable:
    """Keeps one table of the family inet as it was written."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._commands = ""
        self._listed = ""
        """The table as the kernel listed it after it was written: it is not listed as it was written."""

    async def keep(self, commands: str) -> None:
        """Run the commands that replace the table, if they or the kernel's table have changed. Raises `OSError`."""
        if commands == self._commands and await self._list() == self._listed:
            return
        await run("nft", "-f", "-", text=commands)
        self._listed = await self._list()
        self._commands = commands

    async def _list(self) -> str:
        try:
            return await run("nft", "-s", "list", "table", "inet", self._name)
        except OSError:
            return ""  # The table is gone. If nft does not work, the next command reports it.
