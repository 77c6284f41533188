"""`deploy_project`: one `sampan deploy`, from the image to ready Pods. `undeploy_project`: one `sampan undeploy`."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sampan.client import Client
from sampan.oci.http_exchange import HttpExchange
from sampan.project.bundle.objects import OperatorObjects, operator_objects
from sampan.project.bundle.settings import BundleSettings, bundle_settings
from sampan.project.deploying.applying import apply_plan
from sampan.project.deploying.inventory import Inventory, kind_of
from sampan.project.deploying.nodes import NodeKind, runtime_of
from sampan.project.deploying.plan import NAMESPACES, DeployPlan, check_rights, make_plan
from sampan.project.deploying.processes import as_processes, copy_package
from sampan.project.deploying.readiness import DEPLOYMENTS
from sampan.project.deploying.removal import Removals, UndeployOptions, find_removals, undeploy
from sampan.project.deploying.stages import CRD
from sampan.project.errors import ProjectError
from sampan.project.image.build import BuildOptions, Built, build_image, push_image
from sampan.project.image.settings import image_settings
from sampan.project.pyproject import FILE, Settings, parse
from sampan.project.running.kinds import CRDS, broken_objects
from sampan.resource import Object

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DeployOptions:
    """Choices of one `sampan deploy`."""

    cache: Path
    """Folder for images, and for copies of packages."""
    consent: Callable[[DeployPlan], bool]
    """Shows the plan, and returns True if the user accepts it."""
    namespace: str = ""
    image: str = ""
    """Image that nodes can pull or have already; empty: build and push that of the project."""
    insecure: tuple[str, ...] = ()
    """Registries without TLS."""
    take_over: bool = False
    timeout_s: float = 120.0


@dataclass(frozen=True, slots=True)
class _Source:
    """Program for the nodes of the cluster."""

    image: str
    built: Built | None = None
    """Image to push."""
    folder: Path | None = None
    """Copy of the package, for process nodes."""


async def deploy_project(client: Client, project: Settings, options: DeployOptions, report: Report) -> bool:
    """Deploy the operator. Returns False if the user did not accept the plan.

    Raises `ProjectError`, `OciError`, `ClientError`. Before the consent, neither cluster nor registry is written.
    """
    async with HttpExchange(insecure=options.insecure) as exchange:
        source = await _source(client, project, options, exchange, report)
        found = operator_objects(_settings(project, image=source.image, namespace=options.namespace))
        plan = await _plan(client, found, source, take_over=options.take_over)
        if not plan.is_empty and not options.consent(plan):
            return False
        if source.built is not None:
            pushed = await push_image(source.built, exchange)
            if pushed.sent_bytes:
                report(f"pushed   {source.built.settings.name} ({pushed.sent_bytes / 1e6:.1f} MB sent)")
    await apply_plan(client, plan, report, timeout_s=options.timeout_s)
    what = "nothing to change" if plan.is_empty else "deployed"
    report(f"{what}: {found.settings.name} in {found.settings.namespace}")
    return True


def inventory_of(project: Settings, namespace: str = "") -> Inventory:
    """Return the inventory of a project's deployment. Raises `ProjectError`."""
    settings = _settings(project, image=project.package.lower(), namespace=namespace)
    return Inventory(settings.name, settings.namespace)


async def undeploy_project(
    client: Client, inventory: Inventory, options: UndeployOptions, consent: Callable[[Removals], bool], report: Report
) -> bool:
    """Remove the operator. Returns False if the user did not accept. Raises `ProjectError`, `ClientError`."""
    found = await find_removals(client, inventory, options)
    if found is None:
        report(f"nothing is deployed: {inventory.name} in {inventory.namespace}")
        return True
    if not consent(found):
        return False
    await undeploy(client, found, options, report)
    report(f"removed all of {inventory.name} in {inventory.namespace}")
    return True


def _settings(project: Settings, *, image: str, namespace: str) -> BundleSettings:
    return bundle_settings(project, {"image": image, **({"namespace": namespace} if namespace else {})})


async def _source(
    client: Client, project: Settings, options: DeployOptions, exchange: HttpExchange, report: Report
) -> _Source:
    if options.image:
        return _Source(options.image)
    runtime = await runtime_of(client)
    if runtime is NodeKind.ABSENT:
        raise ProjectError("the cluster has no node yet: wait until kubectl get nodes shows one, or set --image")
    if runtime is NodeKind.PROCESSES:
        folder = copy_package(project, options.cache / "packages")
        report(f"package  {folder}: the nodes run processes, so no image is needed")
        return _Source(f"{project.package.lower()}:{folder.name.rpartition('-')[2]}", folder=folder)
    if runtime is NodeKind.SIMULATED:
        report("warning: all nodes are simulated: Pods become ready, but no operator runs")
        return _Source(str(image_settings(project).name))
    _check_registry(project)
    # A build takes minutes, so rights that lack are found before.
    await check_rights(client, inventory_of(project, options.namespace), [NAMESPACES, CRDS, DEPLOYMENTS])
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    settings = image_settings(project)
    built = await build_image(settings, BuildOptions(options.cache / "images", default_python=python), exchange, report)
    return _Source(str(settings.name.at(built.root.digest)), built=built)


def _check_registry(project: Settings) -> None:
    """Raise `ProjectError` unless the image has a name, with the registry from which nodes pull it."""
    place = project.root / FILE
    table = parse(place.read_text(), place).get("tool", {}).get("sampan", {}).get("image", {})
    if not isinstance(table, dict) or not table.get("name"):
        raise ProjectError(
            f'no registry is set from which the nodes can pull: add name = "registry.example.com/team/'
            f'{project.package}" to [tool.sampan.image] in {place}, or choose an image that they have with --image'
        )


async def _plan(client: Client, found: OperatorObjects, source: _Source, *, take_over: bool) -> DeployPlan:
    objects: list[Object] = list(found.objects)
    if source.folder is not None:
        objects = as_processes(objects, source.folder)
    inventory = Inventory(found.settings.name, found.settings.namespace)
    plan = await make_plan(client, inventory, objects, take_over=take_over)
    if not any(each.diff.changed and kind_of(each.desired) == CRD for each in plan.changes):
        return plan
    if broken := await broken_objects(client, found.operator.code.kinds):
        raise ProjectError(
            f"nothing was applied, because stored objects would be invalid under the new CRDs: {'; '.join(broken)}"
        )
    return plan
