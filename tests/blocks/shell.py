"""`steps`: commands and files of a document, in order. `with_server` adds the server that the commands need.

In an indented block, each line is a command, and the lines below it that begin with `# ` are its output. A server in
the foreground, such as `sampan up`, ends where the next one of its kind starts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tests.blocks.document import INDENTED, Block, short
from tests.journeys.page import Command, File, commands, file_of

SHELL: Final = frozenset({INDENTED, "console", "sh"})

_SERVER: Final = re.compile(
    r"(?:sudo )?(?:\.venv/bin/)?(?:sampan|make) (up|node|proxy|dashboard|dns|csi|run|join)\b(?!.*--(?:help|cleanup))"
)
_READY: Final = re.compile(r"(?:sudo )?(?:\.venv/bin/)?(?:sampan up|make up)\b")
_PRINTS: Final = re.compile(r"\s+# (?:.*; )?prints: (.*)")
_REMARK: Final = re.compile(r"\s{2,}# .*")
_RUN: Final = re.compile(r"export KUBECONFIG=\S*/\.sampan/run/")
_READS: Final = re.compile(r"curl |(?:kubectl|sampan) (?:\S+ )?(?:get|describe|logs|top|tree|auth can-i)\b")
_CLIENT: Final = re.compile(
    r"(?:^|[|&(] ?)(?:sudo )?"
    r"(?:kubectl|curl|helm|sampan (?:get|apply|describe|delete|wait|api-resources|token))\b"
)
_HEREDOC: Final = re.compile(r"<<-?'?(\w+)'?")
_STOP: Final = '[ -z "${name}" ] || {{ kill "${name}"; wait "${name}"; }}; {name}='


def steps(blocks: Iterable[Block]) -> list[File | Command]:
    """Return the steps of blocks: those of a shell, and files. Raises `ValueError` with the line of an error."""
    found: list[File | Command] = []
    for block in blocks:
        if block.language in SHELL and not (block.language == "sh" and file_of(block)):
            found += _commands_of(block)
        elif block.language != "diff" and (file := file_of(block)):
            # Readers copy the line with the name, too.
            found.append(File(file.name, block.text, file.line))
    return found


def key_of(command: Command) -> str:
    """Return the name of a command in its document: its first line, shortened."""
    return short(command.text.partition("\n")[0])


def _commands_of(block: Block) -> Iterable[Command]:
    return commands(block, {""}) if block.lines[0].startswith("$ ") else _plain(block)


def _plain(block: Block) -> Iterator[Command]:
    """Yield the commands of a block without prompts."""
    number = 0
    while number < len(block.lines):
        first, words = number, [block.lines[number]]
        number += 1
        heredoc = _HEREDOC.search(words[0])
        while number < len(block.lines) and (words[-1].endswith("\\") or (heredoc and words[-1] != heredoc[1])):
            words.append(block.lines[number])
            number += 1
        output = []
        while number < len(block.lines) and (block.lines[number] == "#" or block.lines[number].startswith("# ")):
            output.append(block.lines[number][2:])
            number += 1
        text = "\n".join(words)
        if text.strip():
            prints = _PRINTS.search(text)
            shown = [prints[1]] if prints else output
            is_read = bool(output) and _READS.match(text) is not None
            yield Command("", _REMARK.sub("", _PRINTS.sub("", text)), shown, None, is_read, block.line + first)


def with_server(found: Sequence[File | Command]) -> Iterator[File | Command]:
    """Yield the steps, with a server before the first client, if the document starts none before it."""
    has_server = False
    for step in found:
        if isinstance(step, File):
            yield step
        elif _is_server(step):
            has_server = has_server or _READY.match(step.text) is not None
            yield from _server(step)
        else:
            has_server = has_server or _RUN.match(step.text) is not None  # The server of `sampan run`.
            if not has_server and _CLIENT.search(step.text):
                has_server = True
                yield from _server(Command("", "sampan up --data data", [], 0, False, step.line))
                yield Command("", "export KUBECONFIG=$PWD/data/kubeconfig", [], 0, False, step.line)
            yield step


def _is_server(step: Command) -> bool:
    """Return True if a command starts a server, and its output is no error."""
    return _SERVER.match(step.text) is not None and not any("error:" in line for line in step.output)


def _server(step: Command) -> Iterator[Command]:
    """Yield the commands that start a server, in place of the one in the foreground before it."""
    shown = step.output or (["ready ..."] if _READY.match(step.text) else [])
    in_foreground = not step.is_background
    program = _SERVER.match(step.text)
    name = f"FOREGROUND_{program[1] if program else ''}"
    if in_foreground:
        yield Command("", _STOP.format(name=name), [], -1, False, step.line)
    text = f"{_REMARK.sub('', step.text)} &" if in_foreground else step.text
    yield Command("", text, shown, 0, False, step.line)
    if in_foreground:
        yield Command("", f"{name}=$!", [], 0, False, step.line)
