"""`dockerfile`: a Dockerfile with the effect of `sampan build`, for those whose images must come from one."""

from sampan.project.image.layers import PACKAGE, WHEELS
from sampan.project.image.settings import ImageSettings


def dockerfile(settings: ImageSettings, python: str) -> str:
    """Return the text. The lock must exist when it is used."""
    package = settings.project.package
    source = (settings.project.source / package).relative_to(settings.root).as_posix()
    environment = {
        "PYTHONPATH": f"/{PACKAGE}:/{WHEELS}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **settings.environment,
    }
    variables = " ".join(f'{name}="{value}"' for name, value in environment.items())
    base = settings.base or f"python:{python}-slim"
    return f"""\
FROM {base} AS wheels
COPY . /project
WORKDIR /project
RUN pip install uv \\
 && uv pip install --requirements {settings.lock.name} --target /{WHEELS} --no-deps --require-hashes

FROM {base}
COPY --from=wheels /{WHEELS} /{WHEELS}
COPY {source} /{PACKAGE}/{package}
ENV {variables}
USER {settings.user}:{settings.user}
WORKDIR /
ENTRYPOINT ["python3", "-m", "{package}"]
"""
