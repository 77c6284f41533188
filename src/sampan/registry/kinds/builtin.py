"""All built-in kinds with special behavior: one line for each module."""

from typing import Final

from sampan.registry.kind import Kind
from sampan.registry.kinds.admissionregistration import admission_policy, policy_binding, webhook_configuration
from sampan.registry.kinds.apiextensions import custom_resource_definition
from sampan.registry.kinds.apiregistration import api_service
from sampan.registry.kinds.apps import controller_revision, daemon_set, deployment, replica_set, stateful_set
from sampan.registry.kinds.autoscaling import horizontal_pod_autoscaler
from sampan.registry.kinds.batch import cron_job, job
from sampan.registry.kinds.certificates import certificate_signing_request
from sampan.registry.kinds.coordination import lease
from sampan.registry.kinds.core import (
    binding,
    component_status,
    config_map,
    endpoints,
    event,
    limit_range,
    namespace,
    node,
    persistent_volume,
    persistent_volume_claim,
    pod,
    pod_template,
    replication_controller,
    resource_quota,
    secret,
    service,
    service_account,
)
from sampan.registry.kinds.discovery import endpoint_slice
from sampan.registry.kinds.flowcontrol import flow_schema, priority_level
from sampan.registry.kinds.networking import addresses, ingress, ingress_class, network_policy
from sampan.registry.kinds.node import runtime_class
from sampan.registry.kinds.policy import pod_disruption_budget
from sampan.registry.kinds.rbac import role, role_binding
from sampan.registry.kinds.resource import device_class, resource_claim, resource_slice
from sampan.registry.kinds.scheduling import priority_class
from sampan.registry.kinds.storage import classes, csi, volume_attachment

BUILTIN_KINDS: Final[tuple[Kind, ...]] = (
    *binding.KINDS,
    *component_status.KINDS,
    *config_map.KINDS,
    *endpoints.KINDS,
    *event.KINDS,
    *limit_range.KINDS,
    *namespace.KINDS,
    *node.KINDS,
    *persistent_volume.KINDS,
    *persistent_volume_claim.KINDS,
    *pod.KINDS,
    *pod_template.KINDS,
    *replication_controller.KINDS,
    *resource_quota.KINDS,
    *secret.KINDS,
    *service.KINDS,
    *service_account.KINDS,
    *admission_policy.KINDS,
    *policy_binding.KINDS,
    *webhook_configuration.KINDS,
    *custom_resource_definition.KINDS,
    *api_service.KINDS,
    *controller_revision.KINDS,
    *daemon_set.KINDS,
    *deployment.KINDS,
    *replica_set.KINDS,
    *stateful_set.KINDS,
    *horizontal_pod_autoscaler.KINDS,
    *cron_job.KINDS,
    *job.KINDS,
    *certificate_signing_request.KINDS,
    *lease.KINDS,
    *endpoint_slice.KINDS,
    *flow_schema.KINDS,
    *priority_level.KINDS,
    *addresses.KINDS,
    *ingress.KINDS,
    *ingress_class.KINDS,
    *network_policy.KINDS,
    *runtime_class.KINDS,
    *pod_disruption_budget.KINDS,
    *role.KINDS,
    *role_binding.KINDS,
    *device_class.KINDS,
    *resource_claim.KINDS,
    *resource_slice.KINDS,
    *priority_class.KINDS,
    *classes.KINDS,
    *csi.KINDS,
    *volume_attachment.KINDS,
)
