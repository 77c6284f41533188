"""Shell completion of types and names. The server's response must arrive within a short limit."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from sampan.cli.objects.session import Where
from sampan.client import Client, ClientError, ListOptions
from sampan.client.discovery.rest_mapper import preferred

_TIMEOUT_S = 2.0
_NAMES_MAX = 200


def complete_type(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete types for the first word, then names. After `TYPE/`, complete names with their type."""
    words = tuple(context.params.get(parameter.name or "") or ())
    word, slash, _ = begun.partition("/")
    if slash:
        return _completed(context, begun, lambda client: _names(client, word, prefix=f"{word}/"))
    if words and "/" not in words[0]:
        return _completed(context, begun, lambda client: _names(client, words[0]))
    return _completed(context, begun, _types)


def _completed(
    context: click.Context, begun: str, question: Callable[[Client], Awaitable[list[str]]]
) -> list[CompletionItem]:
    params: dict[str, Any] = {name: value for name, value in context.params.items() if value}

    async def complete() -> list[str]:
        async with asyncio.timeout(_TIMEOUT_S), Where.taken_from(params).connect() as client:
            return await question(client)

    try:
        found = asyncio.run(complete())
    except (ClientError, click.UsageError, TimeoutError, OSError, ValueError):
        # The shell would show an error in the middle of the command line.
        return []
    return [CompletionItem(each) for each in found if each.startswith(begun)]


async def _types(client: Client) -> list[str]:
    return sorted({info.gvr.resource for info in preferred(await client.mapper.discovered())})


async def _names(client: Client, word: str, *, prefix: str = "") -> list[str]:
    resource = (await client.resource_for(word)).metadata_only()
    page = await resource.list(ListOptions(limit=_NAMES_MAX))
    return [prefix + item.metadata.name for item in page]
