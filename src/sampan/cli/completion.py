"""`sampan completion`: scripts with which shells complete commands, flags, types and names."""

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

_SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command("completion")
@click.argument("shell", type=click.Choice(tuple(_SHELLS)))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash: source <(sampan completion bash)
    zsh:  source <(sampan completion zsh)
    fish: sampan completion fish | source
    """
    root = context.find_root()
    name = root.info_name or "sampan"
    complete = _SHELLS[shell](root.command, {}, name, f"_{name.replace('-', '_').upper()}_COMPLETE")
    # `source()` would run bash to check its version. That is a matter for the shell that reads the script.
    click.echo(complete.source_template % complete.source_vars())
