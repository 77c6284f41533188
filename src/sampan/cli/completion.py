"""`sampan completion`: what makes a shell complete `sampan` commands, flags, types and names."""

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
    # Not `source()`: it runs bash to see whether it is new enough, which is for the shell that reads this to say.
    click.echo(complete.source_template % complete.source_vars())
