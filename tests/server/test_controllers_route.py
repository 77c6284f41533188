"""/debug/controllers of a server: its source, and the right to read it."""

import json

from sampan.server.routes.controllers import PATH, NoReports
from tests.server.cluster import served
from tests.server.frame import JANE

TAG = '"tag"'


async def source(query: str, etag: str) -> tuple[int, bytes, str]:
    """Return a report that repeats the query."""
    if query == "fails":
        raise NoReports("the control loops do not respond")
    return (304, b"", TAG) if etag == TAG else (200, json.dumps({"query": query}).encode(), TAG)


async def test_reports_come_from_the_source() -> None:
    async with served() as api:
        api.server.controllers.source = source
        response = await api.get(f"{PATH}?controller=a")
        assert (response.code, response.body["query"]) == (200, "controller=a")
        assert (await api.get(PATH, **{"if-none-match": TAG})).code == 304
        assert (await api.get(f"{PATH}?fails")).code == 503


async def test_a_server_without_controllers_has_an_empty_report() -> None:
    async with served() as api:
        response = await api.get(PATH)
        assert (response.code, response.body["controllers"]) == (200, [])


async def test_only_users_with_the_right_read_the_path() -> None:
    async with served() as api:
        api.server.controllers.source = source
        for path in (PATH, f"{PATH}?object=default/web", f"{PATH}/", f"/{PATH}", "/debug/%63ontrollers"):
            response = await api.get(path, **JANE)
            assert response.code == 403, path


async def test_the_path_is_only_read() -> None:
    async with served() as api:
        api.server.controllers.source = source
        assert (await api.post(PATH, {})).code == 405
