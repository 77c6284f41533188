"""Where errors become answers: inside the filters that add headers to every answer, outside those that refuse requests."""

from sampan.core.errors import StatusError
from sampan.server.filters.recovery import failure_response
from sampan.server.request import Handler, Request, Response
from sampan.server.status import status_response


def with_errors(handler: Handler) -> Handler:
    """Turn exceptions into `Status` answers."""

    async def filter_(request: Request) -> Response:
        try:
            return await handler(request)
        except StatusError as error:
            return status_response(error)
        except Exception as error:
            return failure_response(request, error)

    return filter_
