"""Types of core/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class AWSElasticBlockStoreVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.awsElasticBlockStore`, `Volume.awsElasticBlockStore`."""

    fsType: str
    partition: int
    readOnly: bool
    volumeID: Required[str]


class Affinity(TypedDict, total=False):
    """Type of `PodSpec.affinity`."""

    nodeAffinity: NodeAffinity
    podAffinity: PodAffinity
    podAntiAffinity: PodAntiAffinity


class AppArmorProfile(TypedDict, total=False):
    """Type of `PodSecurityContext.appArmorProfile`, `SecurityContext.appArmorProfile`."""

    localhostProfile: str
    type: Required[str]


class AttachedVolume(TypedDict, total=False):
    """Type of `NodeStatus.volumesAttached`."""

    devicePath: Required[str]
    name: Required[str]


class AzureDiskVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.azureDisk`, `Volume.azureDisk`."""

    cachingMode: str
    diskName: Required[str]
    diskURI: Required[str]
    fsType: str
    kind: str
    readOnly: bool


class AzureFilePersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.azureFile`."""

    readOnly: bool
    secretName: Required[str]
    secretNamespace: str
    shareName: Required[str]


class AzureFileVolumeSource(TypedDict, total=False):
    """Type of `Volume.azureFile`."""

    readOnly: bool
    secretName: Required[str]
    shareName: Required[str]


class Binding(TypedDict, total=False):
    """Object of the resource `bindings` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["Binding"]]
    metadata: Required[meta_v1.ObjectMeta]
    target: Required[ObjectReference]


class CSIPersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.csi`."""

    controllerExpandSecretRef: SecretReference
    controllerPublishSecretRef: SecretReference
    driver: Required[str]
    fsType: str
    nodeExpandSecretRef: SecretReference
    nodePublishSecretRef: SecretReference
    nodeStageSecretRef: SecretReference
    readOnly: bool
    volumeAttributes: dict[str, str]
    volumeHandle: Required[str]


class CSIVolumeSource(TypedDict, total=False):
    """Type of `Volume.csi`."""

    driver: Required[str]
    fsType: str
    nodePublishSecretRef: LocalObjectReference
    readOnly: bool
    volumeAttributes: dict[str, str]


class Capabilities(TypedDict, total=False):
    """Type of `SecurityContext.capabilities`."""

    add: list[str]
    drop: list[str]


class CephFSPersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.cephfs`."""

    monitors: Required[list[str]]
    path: str
    readOnly: bool
    secretFile: str
    secretRef: SecretReference
    user: str


class CephFSVolumeSource(TypedDict, total=False):
    """Type of `Volume.cephfs`."""

    monitors: Required[list[str]]
    path: str
    readOnly: bool
    secretFile: str
    secretRef: LocalObjectReference
    user: str


class CinderPersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.cinder`."""

    fsType: str
    readOnly: bool
    secretRef: SecretReference
    volumeID: Required[str]


class CinderVolumeSource(TypedDict, total=False):
    """Type of `Volume.cinder`."""

    fsType: str
    readOnly: bool
    secretRef: LocalObjectReference
    volumeID: Required[str]


class ClientIPConfig(TypedDict, total=False):
    """Type of `SessionAffinityConfig.clientIP`."""

    timeoutSeconds: int


class ClusterTrustBundleProjection(TypedDict, total=False):
    """Type of `VolumeProjection.clusterTrustBundle`."""

    labelSelector: meta_v1.LabelSelector
    name: str
    optional: bool
    path: Required[str]
    signerName: str


class ComponentCondition(TypedDict, total=False):
    """Type of `ComponentStatus.conditions`."""

    error: str
    message: str
    status: Required[str]
    type: Required[str]


class ComponentStatus(TypedDict, total=False):
    """Object of the resource `componentstatuses`."""

    apiVersion: Required[Literal["v1"]]
    conditions: list[ComponentCondition]
    kind: Required[Literal["ComponentStatus"]]
    metadata: Required[meta_v1.ObjectMeta]


class ComponentStatusList(TypedDict, total=False):
    """Response with a list of `ComponentStatus`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[ComponentStatus]]
    kind: Required[Literal["ComponentStatusList"]]
    metadata: Required[meta_v1.ListMeta]


class ConfigMap(TypedDict, total=False):
    """Object of the resource `configmaps` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    binaryData: dict[str, str]
    data: dict[str, str]
    immutable: bool
    kind: Required[Literal["ConfigMap"]]
    metadata: Required[meta_v1.ObjectMeta]


class ConfigMapEnvSource(TypedDict, total=False):
    """Type of `EnvFromSource.configMapRef`."""

    name: str
    optional: bool


class ConfigMapKeySelector(TypedDict, total=False):
    """Type of `EnvVarSource.configMapKeyRef`."""

    key: Required[str]
    name: str
    optional: bool


class ConfigMapList(TypedDict, total=False):
    """Response with a list of `ConfigMap`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[ConfigMap]]
    kind: Required[Literal["ConfigMapList"]]
    metadata: Required[meta_v1.ListMeta]


class ConfigMapNodeConfigSource(TypedDict, total=False):
    """Type of `NodeConfigSource.configMap`."""

    kubeletConfigKey: Required[str]
    name: Required[str]
    namespace: Required[str]
    resourceVersion: str
    uid: str


class ConfigMapProjection(TypedDict, total=False):
    """Type of `VolumeProjection.configMap`."""

    items: list[KeyToPath]
    name: str
    optional: bool


class ConfigMapVolumeSource(TypedDict, total=False):
    """Type of `Volume.configMap`."""

    defaultMode: int
    items: list[KeyToPath]
    name: str
    optional: bool


class Container(TypedDict, total=False):
    """Type of `PodSpec.containers`, `PodSpec.initContainers`."""

    args: list[str]
    command: list[str]
    env: list[EnvVar]
    envFrom: list[EnvFromSource]
    image: str
    imagePullPolicy: str
    lifecycle: Lifecycle
    livenessProbe: Probe
    name: Required[str]
    ports: list[ContainerPort]
    readinessProbe: Probe
    resizePolicy: list[ContainerResizePolicy]
    resources: ResourceRequirements
    restartPolicy: str
    restartPolicyRules: list[ContainerRestartRule]
    securityContext: SecurityContext
    startupProbe: Probe
    stdin: bool
    stdinOnce: bool
    terminationMessagePath: str
    terminationMessagePolicy: str
    tty: bool
    volumeDevices: list[VolumeDevice]
    volumeMounts: list[VolumeMount]
    workingDir: str


class ContainerExtendedResourceRequest(TypedDict, total=False):
    """Type of `PodExtendedResourceClaimStatus.requestMappings`."""

    containerName: Required[str]
    requestName: Required[str]
    resourceName: Required[str]


class ContainerImage(TypedDict, total=False):
    """Type of `NodeStatus.images`."""

    names: list[str]
    sizeBytes: int


class ContainerPort(TypedDict, total=False):
    """Type of `Container.ports`, `EphemeralContainer.ports`."""

    containerPort: Required[int]
    hostIP: str
    hostPort: int
    name: str
    protocol: str


class ContainerResizePolicy(TypedDict, total=False):
    """Type of `Container.resizePolicy`, `EphemeralContainer.resizePolicy`."""

    resourceName: Required[str]
    restartPolicy: Required[str]


class ContainerRestartRule(TypedDict, total=False):
    """Type of `Container.restartPolicyRules`, `EphemeralContainer.restartPolicyRules`."""

    action: Required[str]
    exitCodes: ContainerRestartRuleOnExitCodes


class ContainerRestartRuleOnExitCodes(TypedDict, total=False):
    """Type of `ContainerRestartRule.exitCodes`."""

    operator: Required[str]
    values: list[int]


class ContainerState(TypedDict, total=False):
    """Type of `ContainerStatus.lastState`, `ContainerStatus.state`."""

    running: ContainerStateRunning
    terminated: ContainerStateTerminated
    waiting: ContainerStateWaiting


class ContainerStateRunning(TypedDict, total=False):
    """Type of `ContainerState.running`."""

    startedAt: meta_v1.Time


class ContainerStateTerminated(TypedDict, total=False):
    """Type of `ContainerState.terminated`."""

    containerID: str
    exitCode: Required[int]
    finishedAt: meta_v1.Time
    message: str
    reason: str
    signal: int
    startedAt: meta_v1.Time


class ContainerStateWaiting(TypedDict, total=False):
    """Type of `ContainerState.waiting`."""

    message: str
    reason: str


class ContainerStatus(TypedDict, total=False):
    """Type of `PodStatus.containerStatuses`, `PodStatus.ephemeralContainerStatuses` and more fields."""

    allocatedResources: dict[str, meta_v1.Quantity]
    allocatedResourcesStatus: list[ResourceStatus]
    containerID: str
    image: Required[str]
    imageID: Required[str]
    lastState: ContainerState
    name: Required[str]
    ready: Required[bool]
    resources: ResourceRequirements
    restartCount: Required[int]
    started: bool
    state: ContainerState
    stopSignal: str
    user: ContainerUser
    volumeMounts: list[VolumeMountStatus]


class ContainerUser(TypedDict, total=False):
    """Type of `ContainerStatus.user`."""

    linux: LinuxContainerUser


class DaemonEndpoint(TypedDict, total=False):
    """Type of `NodeDaemonEndpoints.kubeletEndpoint`."""

    Port: Required[int]


class DownwardAPIProjection(TypedDict, total=False):
    """Type of `VolumeProjection.downwardAPI`."""

    items: list[DownwardAPIVolumeFile]


class DownwardAPIVolumeFile(TypedDict, total=False):
    """Type of `DownwardAPIProjection.items`, `DownwardAPIVolumeSource.items`."""

    fieldRef: ObjectFieldSelector
    mode: int
    path: Required[str]
    resourceFieldRef: ResourceFieldSelector


class DownwardAPIVolumeSource(TypedDict, total=False):
    """Type of `Volume.downwardAPI`."""

    defaultMode: int
    items: list[DownwardAPIVolumeFile]


class EmptyDirVolumeSource(TypedDict, total=False):
    """Type of `Volume.emptyDir`."""

    medium: str
    sizeLimit: meta_v1.Quantity


class EndpointAddress(TypedDict, total=False):
    """Type of `EndpointSubset.addresses`, `EndpointSubset.notReadyAddresses`."""

    hostname: str
    ip: Required[str]
    nodeName: str
    targetRef: ObjectReference


class EndpointPort(TypedDict, total=False):
    """Type of `EndpointSubset.ports`."""

    appProtocol: str
    name: str
    port: Required[int]
    protocol: str


class EndpointSubset(TypedDict, total=False):
    """Type of `Endpoints.subsets`."""

    addresses: list[EndpointAddress]
    notReadyAddresses: list[EndpointAddress]
    ports: list[EndpointPort]


class Endpoints(TypedDict, total=False):
    """Object of the resource `endpoints` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["Endpoints"]]
    metadata: Required[meta_v1.ObjectMeta]
    subsets: list[EndpointSubset]


class EndpointsList(TypedDict, total=False):
    """Response with a list of `Endpoints`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[Endpoints]]
    kind: Required[Literal["EndpointsList"]]
    metadata: Required[meta_v1.ListMeta]


class EnvFromSource(TypedDict, total=False):
    """Type of `Container.envFrom`, `EphemeralContainer.envFrom`."""

    configMapRef: ConfigMapEnvSource
    prefix: str
    secretRef: SecretEnvSource


class EnvVar(TypedDict, total=False):
    """Type of `Container.env`, `EphemeralContainer.env`."""

    name: Required[str]
    value: str
    valueFrom: EnvVarSource


class EnvVarSource(TypedDict, total=False):
    """Type of `EnvVar.valueFrom`."""

    configMapKeyRef: ConfigMapKeySelector
    fieldRef: ObjectFieldSelector
    fileKeyRef: FileKeySelector
    resourceFieldRef: ResourceFieldSelector
    secretKeyRef: SecretKeySelector


class EphemeralContainer(TypedDict, total=False):
    """Type of `PodSpec.ephemeralContainers`."""

    args: list[str]
    command: list[str]
    env: list[EnvVar]
    envFrom: list[EnvFromSource]
    image: str
    imagePullPolicy: str
    lifecycle: Lifecycle
    livenessProbe: Probe
    name: Required[str]
    ports: list[ContainerPort]
    readinessProbe: Probe
    resizePolicy: list[ContainerResizePolicy]
    resources: ResourceRequirements
    restartPolicy: str
    restartPolicyRules: list[ContainerRestartRule]
    securityContext: SecurityContext
    startupProbe: Probe
    stdin: bool
    stdinOnce: bool
    targetContainerName: str
    terminationMessagePath: str
    terminationMessagePolicy: str
    tty: bool
    volumeDevices: list[VolumeDevice]
    volumeMounts: list[VolumeMount]
    workingDir: str


class EphemeralVolumeSource(TypedDict, total=False):
    """Type of `Volume.ephemeral`."""

    volumeClaimTemplate: PersistentVolumeClaimTemplate


class Event(TypedDict, total=False):
    """Object of the resource `events` in a namespace."""

    action: str
    apiVersion: Required[Literal["v1"]]
    count: int
    eventTime: meta_v1.MicroTime
    firstTimestamp: meta_v1.Time
    involvedObject: Required[ObjectReference]
    kind: Required[Literal["Event"]]
    lastTimestamp: meta_v1.Time
    message: str
    metadata: Required[meta_v1.ObjectMeta]
    reason: str
    related: ObjectReference
    reportingComponent: str
    reportingInstance: str
    series: EventSeries
    source: EventSource
    type: str


class EventList(TypedDict, total=False):
    """Response with a list of `Event`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[Event]]
    kind: Required[Literal["EventList"]]
    metadata: Required[meta_v1.ListMeta]


class EventSeries(TypedDict, total=False):
    """Type of `Event.series`."""

    count: int
    lastObservedTime: meta_v1.MicroTime


class EventSource(TypedDict, total=False):
    """Type of `Event.source`, `Event.deprecatedSource`."""

    component: str
    host: str


class ExecAction(TypedDict, total=False):
    """Type of `LifecycleHandler.exec`, `Probe.exec`."""

    command: list[str]


class FCVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.fc`, `Volume.fc`."""

    fsType: str
    lun: int
    readOnly: bool
    targetWWNs: list[str]
    wwids: list[str]


class FileKeySelector(TypedDict, total=False):
    """Type of `EnvVarSource.fileKeyRef`."""

    key: Required[str]
    optional: bool
    path: Required[str]
    volumeName: Required[str]


class FlexPersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.flexVolume`."""

    driver: Required[str]
    fsType: str
    options: dict[str, str]
    readOnly: bool
    secretRef: SecretReference


class FlexVolumeSource(TypedDict, total=False):
    """Type of `Volume.flexVolume`."""

    driver: Required[str]
    fsType: str
    options: dict[str, str]
    readOnly: bool
    secretRef: LocalObjectReference


class FlockerVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.flocker`, `Volume.flocker`."""

    datasetName: str
    datasetUUID: str


class GCEPersistentDiskVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.gcePersistentDisk`, `Volume.gcePersistentDisk`."""

    fsType: str
    partition: int
    pdName: Required[str]
    readOnly: bool


class GRPCAction(TypedDict, total=False):
    """Type of `Probe.grpc`."""

    port: Required[int]
    service: str


class GitRepoVolumeSource(TypedDict, total=False):
    """Type of `Volume.gitRepo`."""

    directory: str
    repository: Required[str]
    revision: str


class GlusterfsPersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.glusterfs`."""

    endpoints: Required[str]
    endpointsNamespace: str
    path: Required[str]
    readOnly: bool


class GlusterfsVolumeSource(TypedDict, total=False):
    """Type of `Volume.glusterfs`."""

    endpoints: Required[str]
    path: Required[str]
    readOnly: bool


class HTTPGetAction(TypedDict, total=False):
    """Type of `LifecycleHandler.httpGet`, `Probe.httpGet`."""

    host: str
    httpHeaders: list[HTTPHeader]
    path: str
    port: Required[meta_v1.IntOrString]
    scheme: str


class HTTPHeader(TypedDict, total=False):
    """Type of `HTTPGetAction.httpHeaders`."""

    name: Required[str]
    value: Required[str]


class HostAlias(TypedDict, total=False):
    """Type of `PodSpec.hostAliases`."""

    hostnames: list[str]
    ip: Required[str]


class HostIP(TypedDict, total=False):
    """Type of `PodStatus.hostIPs`."""

    ip: Required[str]


class HostPathVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.hostPath`, `Volume.hostPath`."""

    path: Required[str]
    type: str


class ISCSIPersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.iscsi`."""

    chapAuthDiscovery: bool
    chapAuthSession: bool
    fsType: str
    initiatorName: str
    iqn: Required[str]
    iscsiInterface: str
    lun: Required[int]
    portals: list[str]
    readOnly: bool
    secretRef: SecretReference
    targetPortal: Required[str]


class ISCSIVolumeSource(TypedDict, total=False):
    """Type of `Volume.iscsi`."""

    chapAuthDiscovery: bool
    chapAuthSession: bool
    fsType: str
    initiatorName: str
    iqn: Required[str]
    iscsiInterface: str
    lun: Required[int]
    portals: list[str]
    readOnly: bool
    secretRef: LocalObjectReference
    targetPortal: Required[str]


class ImageVolumeSource(TypedDict, total=False):
    """Type of `Volume.image`."""

    pullPolicy: str
    reference: str


class ImageVolumeStatus(TypedDict, total=False):
    """Type of `VolumeStatus.image`."""

    imageRef: Required[str]


class KeyToPath(TypedDict, total=False):
    """Type of `ConfigMapProjection.items`, `ConfigMapVolumeSource.items` and more fields."""

    key: Required[str]
    mode: int
    path: Required[str]


class Lifecycle(TypedDict, total=False):
    """Type of `Container.lifecycle`, `EphemeralContainer.lifecycle`."""

    postStart: LifecycleHandler
    preStop: LifecycleHandler
    stopSignal: str


class LifecycleHandler(TypedDict, total=False):
    """Type of `Lifecycle.postStart`, `Lifecycle.preStop`."""

    exec: ExecAction
    httpGet: HTTPGetAction
    sleep: SleepAction
    tcpSocket: TCPSocketAction


class LimitRange(TypedDict, total=False):
    """Object of the resource `limitranges` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["LimitRange"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[LimitRangeSpec]


class LimitRangeItem(TypedDict, total=False):
    """Type of `LimitRangeSpec.limits`."""

    default: dict[str, meta_v1.Quantity]
    defaultRequest: dict[str, meta_v1.Quantity]
    max: dict[str, meta_v1.Quantity]
    maxLimitRequestRatio: dict[str, meta_v1.Quantity]
    min: dict[str, meta_v1.Quantity]
    type: Required[str]


class LimitRangeList(TypedDict, total=False):
    """Response with a list of `LimitRange`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[LimitRange]]
    kind: Required[Literal["LimitRangeList"]]
    metadata: Required[meta_v1.ListMeta]


class LimitRangeSpec(TypedDict, total=False):
    """Type of `LimitRange.spec`."""

    limits: Required[list[LimitRangeItem]]


class LinuxContainerUser(TypedDict, total=False):
    """Type of `ContainerUser.linux`."""

    gid: Required[int]
    supplementalGroups: list[int]
    uid: Required[int]


class LoadBalancerIngress(TypedDict, total=False):
    """Type of `LoadBalancerStatus.ingress`."""

    hostname: str
    ip: str
    ipMode: str
    ports: list[PortStatus]


class LoadBalancerStatus(TypedDict, total=False):
    """Type of `ServiceStatus.loadBalancer`."""

    ingress: list[LoadBalancerIngress]


class LocalObjectReference(TypedDict, total=False):
    """Type of `CSIVolumeSource.nodePublishSecretRef`, `CephFSVolumeSource.secretRef` and more fields."""

    name: str


class LocalVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.local`."""

    fsType: str
    path: Required[str]


class ModifyVolumeStatus(TypedDict, total=False):
    """Type of `PersistentVolumeClaimStatus.modifyVolumeStatus`."""

    status: Required[str]
    targetVolumeAttributesClassName: str


class NFSVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.nfs`, `Volume.nfs`."""

    path: Required[str]
    readOnly: bool
    server: Required[str]


class Namespace(TypedDict, total=False):
    """Object of the resource `namespaces`."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["Namespace"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: NamespaceSpec
    status: NamespaceStatus


class NamespaceCondition(TypedDict, total=False):
    """Type of `NamespaceStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class NamespaceList(TypedDict, total=False):
    """Response with a list of `Namespace`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[Namespace]]
    kind: Required[Literal["NamespaceList"]]
    metadata: Required[meta_v1.ListMeta]


class NamespaceSpec(TypedDict, total=False):
    """Type of `Namespace.spec`."""

    finalizers: list[str]


class NamespaceStatus(TypedDict, total=False):
    """Type of `Namespace.status`."""

    conditions: list[NamespaceCondition]
    phase: str


class Node(TypedDict, total=False):
    """Object of the resource `nodes`."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["Node"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: NodeSpec
    status: NodeStatus


class NodeAddress(TypedDict, total=False):
    """Type of `NodeStatus.addresses`."""

    address: Required[str]
    type: Required[str]


class NodeAffinity(TypedDict, total=False):
    """Type of `Affinity.nodeAffinity`."""

    preferredDuringSchedulingIgnoredDuringExecution: list[PreferredSchedulingTerm]
    requiredDuringSchedulingIgnoredDuringExecution: NodeSelector


class NodeAllocatableResourceClaimStatus(TypedDict, total=False):
    """Type of `PodStatus.nodeAllocatableResourceClaimStatuses`."""

    containers: list[str]
    resourceClaimName: Required[str]
    resources: Required[dict[str, meta_v1.Quantity]]


class NodeCondition(TypedDict, total=False):
    """Type of `NodeStatus.conditions`."""

    lastHeartbeatTime: meta_v1.Time
    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class NodeConfigSource(TypedDict, total=False):
    """Type of `NodeConfigStatus.active`, `NodeConfigStatus.assigned` and more fields."""

    configMap: ConfigMapNodeConfigSource


class NodeConfigStatus(TypedDict, total=False):
    """Type of `NodeStatus.config`."""

    active: NodeConfigSource
    assigned: NodeConfigSource
    error: str
    lastKnownGood: NodeConfigSource


class NodeDaemonEndpoints(TypedDict, total=False):
    """Type of `NodeStatus.daemonEndpoints`."""

    kubeletEndpoint: Required[DaemonEndpoint]


class NodeFeatures(TypedDict, total=False):
    """Type of `NodeStatus.features`."""

    supplementalGroupsPolicy: bool


class NodeList(TypedDict, total=False):
    """Response with a list of `Node`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[Node]]
    kind: Required[Literal["NodeList"]]
    metadata: Required[meta_v1.ListMeta]


class NodeRuntimeHandler(TypedDict, total=False):
    """Type of `NodeStatus.runtimeHandlers`."""

    features: NodeRuntimeHandlerFeatures
    name: str


class NodeRuntimeHandlerFeatures(TypedDict, total=False):
    """Type of `NodeRuntimeHandler.features`."""

    recursiveReadOnlyMounts: bool
    userNamespaces: bool


class NodeSelector(TypedDict, total=False):
    """Type of `NodeAffinity.requiredDuringSchedulingIgnoredDuringExecution` and more fields."""

    nodeSelectorTerms: Required[list[NodeSelectorTerm]]


class NodeSelectorRequirement(TypedDict, total=False):
    """Type of `NodeSelectorTerm.matchExpressions`, `NodeSelectorTerm.matchFields`."""

    key: Required[str]
    operator: Required[str]
    values: list[str]


class NodeSelectorTerm(TypedDict, total=False):
    """Type of `NodeSelector.nodeSelectorTerms`, `PreferredSchedulingTerm.preference`."""

    matchExpressions: list[NodeSelectorRequirement]
    matchFields: list[NodeSelectorRequirement]


class NodeSpec(TypedDict, total=False):
    """Type of `Node.spec`."""

    configSource: NodeConfigSource
    externalID: str
    podCIDR: str
    podCIDRs: list[str]
    providerID: str
    taints: list[Taint]
    unschedulable: bool


class NodeStatus(TypedDict, total=False):
    """Type of `Node.status`."""

    addresses: list[NodeAddress]
    allocatable: dict[str, meta_v1.Quantity]
    capacity: dict[str, meta_v1.Quantity]
    conditions: list[NodeCondition]
    config: NodeConfigStatus
    daemonEndpoints: Required[NodeDaemonEndpoints]
    declaredFeatures: list[str]
    features: NodeFeatures
    images: list[ContainerImage]
    nodeInfo: Required[NodeSystemInfo]
    phase: str
    runtimeHandlers: list[NodeRuntimeHandler]
    volumesAttached: list[AttachedVolume]
    volumesInUse: list[str]


class NodeSwapStatus(TypedDict, total=False):
    """Type of `NodeSystemInfo.swap`."""

    capacity: int


class NodeSystemInfo(TypedDict, total=False):
    """Type of `NodeStatus.nodeInfo`."""

    architecture: Required[str]
    bootID: Required[str]
    containerRuntimeVersion: Required[str]
    kernelVersion: Required[str]
    kubeProxyVersion: Required[str]
    kubeletVersion: Required[str]
    machineID: Required[str]
    operatingSystem: Required[str]
    osImage: Required[str]
    swap: NodeSwapStatus
    systemUUID: Required[str]


class ObjectFieldSelector(TypedDict, total=False):
    """Type of `DownwardAPIVolumeFile.fieldRef`, `EnvVarSource.fieldRef`."""

    apiVersion: str
    fieldPath: Required[str]


class ObjectReference(TypedDict, total=False):
    """Type of `CronJobStatus.active`, `Binding.target` and more fields."""

    apiVersion: str
    fieldPath: str
    kind: str
    name: str
    namespace: str
    resourceVersion: str
    uid: str


class PersistentVolume(TypedDict, total=False):
    """Object of the resource `persistentvolumes`."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["PersistentVolume"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: PersistentVolumeSpec
    status: PersistentVolumeStatus


class PersistentVolumeClaim(TypedDict, total=False):
    """Object of the resource `persistentvolumeclaims` in a namespace."""

    apiVersion: Literal["v1"]
    kind: Literal["PersistentVolumeClaim"]
    metadata: Required[meta_v1.ObjectMeta]
    spec: PersistentVolumeClaimSpec
    status: PersistentVolumeClaimStatus


class PersistentVolumeClaimCondition(TypedDict, total=False):
    """Type of `PersistentVolumeClaimStatus.conditions`."""

    lastProbeTime: meta_v1.Time
    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class PersistentVolumeClaimList(TypedDict, total=False):
    """Response with a list of `PersistentVolumeClaim`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[PersistentVolumeClaim]]
    kind: Required[Literal["PersistentVolumeClaimList"]]
    metadata: Required[meta_v1.ListMeta]


class PersistentVolumeClaimSpec(TypedDict, total=False):
    """Type of `PersistentVolumeClaim.spec`, `PersistentVolumeClaimTemplate.spec`."""

    accessModes: list[str]
    dataSource: TypedLocalObjectReference
    dataSourceRef: TypedObjectReference
    resources: VolumeResourceRequirements
    selector: meta_v1.LabelSelector
    storageClassName: str
    volumeAttributesClassName: str
    volumeMode: str
    volumeName: str


class PersistentVolumeClaimStatus(TypedDict, total=False):
    """Type of `PersistentVolumeClaim.status`."""

    accessModes: list[str]
    allocatedResourceStatuses: dict[str, str]
    allocatedResources: dict[str, meta_v1.Quantity]
    capacity: dict[str, meta_v1.Quantity]
    conditions: list[PersistentVolumeClaimCondition]
    currentVolumeAttributesClassName: str
    modifyVolumeStatus: ModifyVolumeStatus
    phase: str


class PersistentVolumeClaimTemplate(TypedDict, total=False):
    """Type of `EphemeralVolumeSource.volumeClaimTemplate`."""

    metadata: meta_v1.ObjectMeta
    spec: Required[PersistentVolumeClaimSpec]


class PersistentVolumeClaimVolumeSource(TypedDict, total=False):
    """Type of `Volume.persistentVolumeClaim`."""

    claimName: Required[str]
    readOnly: bool


class PersistentVolumeList(TypedDict, total=False):
    """Response with a list of `PersistentVolume`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[PersistentVolume]]
    kind: Required[Literal["PersistentVolumeList"]]
    metadata: Required[meta_v1.ListMeta]


class PersistentVolumeSpec(TypedDict, total=False):
    """Type of `PersistentVolume.spec`, `VolumeAttachmentSource.inlineVolumeSpec`."""

    accessModes: list[str]
    awsElasticBlockStore: AWSElasticBlockStoreVolumeSource
    azureDisk: AzureDiskVolumeSource
    azureFile: AzureFilePersistentVolumeSource
    capacity: dict[str, meta_v1.Quantity]
    cephfs: CephFSPersistentVolumeSource
    cinder: CinderPersistentVolumeSource
    claimRef: ObjectReference
    csi: CSIPersistentVolumeSource
    fc: FCVolumeSource
    flexVolume: FlexPersistentVolumeSource
    flocker: FlockerVolumeSource
    gcePersistentDisk: GCEPersistentDiskVolumeSource
    glusterfs: GlusterfsPersistentVolumeSource
    hostPath: HostPathVolumeSource
    iscsi: ISCSIPersistentVolumeSource
    local: LocalVolumeSource
    mountOptions: list[str]
    nfs: NFSVolumeSource
    nodeAffinity: VolumeNodeAffinity
    persistentVolumeReclaimPolicy: str
    photonPersistentDisk: PhotonPersistentDiskVolumeSource
    portworxVolume: PortworxVolumeSource
    quobyte: QuobyteVolumeSource
    rbd: RBDPersistentVolumeSource
    scaleIO: ScaleIOPersistentVolumeSource
    storageClassName: str
    storageos: StorageOSPersistentVolumeSource
    volumeAttributesClassName: str
    volumeMode: str
    vsphereVolume: VsphereVirtualDiskVolumeSource


class PersistentVolumeStatus(TypedDict, total=False):
    """Type of `PersistentVolume.status`."""

    lastPhaseTransitionTime: meta_v1.Time
    message: str
    phase: str
    reason: str


class PhotonPersistentDiskVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.photonPersistentDisk`, `Volume.photonPersistentDisk`."""

    fsType: str
    pdID: Required[str]


class Pod(TypedDict, total=False):
    """Object of the resource `pods` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["Pod"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[PodSpec]
    status: PodStatus


class PodAffinity(TypedDict, total=False):
    """Type of `Affinity.podAffinity`."""

    preferredDuringSchedulingIgnoredDuringExecution: list[WeightedPodAffinityTerm]
    requiredDuringSchedulingIgnoredDuringExecution: list[PodAffinityTerm]


class PodAffinityTerm(TypedDict, total=False):
    """Type of `PodAffinity.requiredDuringSchedulingIgnoredDuringExecution` and more fields."""

    labelSelector: meta_v1.LabelSelector
    matchLabelKeys: list[str]
    mismatchLabelKeys: list[str]
    namespaceSelector: meta_v1.LabelSelector
    namespaces: list[str]
    topologyKey: Required[str]


class PodAntiAffinity(TypedDict, total=False):
    """Type of `Affinity.podAntiAffinity`."""

    preferredDuringSchedulingIgnoredDuringExecution: list[WeightedPodAffinityTerm]
    requiredDuringSchedulingIgnoredDuringExecution: list[PodAffinityTerm]


class PodCertificateProjection(TypedDict, total=False):
    """Type of `VolumeProjection.podCertificate`."""

    certificateChainPath: str
    credentialBundlePath: str
    keyPath: str
    keyType: Required[str]
    maxExpirationSeconds: int
    signerName: Required[str]
    userAnnotations: dict[str, str]


class PodCondition(TypedDict, total=False):
    """Type of `PodStatus.conditions`."""

    lastProbeTime: meta_v1.Time
    lastTransitionTime: meta_v1.Time
    message: str
    observedGeneration: int
    reason: str
    status: Required[str]
    type: Required[str]


class PodDNSConfig(TypedDict, total=False):
    """Type of `PodSpec.dnsConfig`."""

    nameservers: list[str]
    options: list[PodDNSConfigOption]
    searches: list[str]


class PodDNSConfigOption(TypedDict, total=False):
    """Type of `PodDNSConfig.options`."""

    name: str
    value: str


class PodExtendedResourceClaimStatus(TypedDict, total=False):
    """Type of `PodStatus.extendedResourceClaimStatus`."""

    requestMappings: Required[list[ContainerExtendedResourceRequest]]
    resourceClaimName: Required[str]


class PodIP(TypedDict, total=False):
    """Type of `PodStatus.podIPs`."""

    ip: Required[str]


class PodList(TypedDict, total=False):
    """Response with a list of `Pod`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[Pod]]
    kind: Required[Literal["PodList"]]
    metadata: Required[meta_v1.ListMeta]


class PodOS(TypedDict, total=False):
    """Type of `PodSpec.os`."""

    name: Required[str]


class PodReadinessGate(TypedDict, total=False):
    """Type of `PodSpec.readinessGates`."""

    conditionType: Required[str]


class PodResourceClaim(TypedDict, total=False):
    """Type of `PodSpec.resourceClaims`."""

    name: Required[str]
    resourceClaimName: str
    resourceClaimTemplateName: str


class PodResourceClaimStatus(TypedDict, total=False):
    """Type of `PodStatus.resourceClaimStatuses`."""

    name: Required[str]
    resourceClaimName: str


class PodSchedulingGate(TypedDict, total=False):
    """Type of `PodSpec.schedulingGates`."""

    name: Required[str]


class PodSchedulingGroup(TypedDict, total=False):
    """Type of `PodSpec.schedulingGroup`."""

    podGroupName: str


class PodSecurityContext(TypedDict, total=False):
    """Type of `PodSpec.securityContext`."""

    appArmorProfile: AppArmorProfile
    fsGroup: int
    fsGroupChangePolicy: str
    runAsGroup: int
    runAsNonRoot: bool
    runAsUser: int
    seLinuxChangePolicy: str
    seLinuxOptions: SELinuxOptions
    seccompProfile: SeccompProfile
    supplementalGroups: list[int]
    supplementalGroupsPolicy: str
    sysctls: list[Sysctl]
    windowsOptions: WindowsSecurityContextOptions


class PodSpec(TypedDict, total=False):
    """Type of `Pod.spec`, `PodTemplateSpec.spec`."""

    activeDeadlineSeconds: int
    affinity: Affinity
    automountServiceAccountToken: bool
    containers: Required[list[Container]]
    dnsConfig: PodDNSConfig
    dnsPolicy: str
    enableServiceLinks: bool
    ephemeralContainers: list[EphemeralContainer]
    hostAliases: list[HostAlias]
    hostIPC: bool
    hostNetwork: bool
    hostPID: bool
    hostUsers: bool
    hostname: str
    hostnameOverride: str
    imagePullSecrets: list[LocalObjectReference]
    initContainers: list[Container]
    nodeName: str
    nodeSelector: dict[str, str]
    os: PodOS
    overhead: dict[str, meta_v1.Quantity]
    preemptionPolicy: str
    priority: int
    priorityClassName: str
    readinessGates: list[PodReadinessGate]
    resourceClaims: list[PodResourceClaim]
    resources: ResourceRequirements
    restartPolicy: str
    runtimeClassName: str
    schedulerName: str
    schedulingGates: list[PodSchedulingGate]
    schedulingGroup: PodSchedulingGroup
    securityContext: PodSecurityContext
    serviceAccount: str
    serviceAccountName: str
    setHostnameAsFQDN: bool
    shareProcessNamespace: bool
    subdomain: str
    terminationGracePeriodSeconds: int
    tolerations: list[Toleration]
    topologySpreadConstraints: list[TopologySpreadConstraint]
    volumes: list[Volume]


class PodStatus(TypedDict, total=False):
    """Type of `Pod.status`."""

    allocatedResources: dict[str, meta_v1.Quantity]
    conditions: list[PodCondition]
    containerStatuses: list[ContainerStatus]
    ephemeralContainerStatuses: list[ContainerStatus]
    extendedResourceClaimStatus: PodExtendedResourceClaimStatus
    hostIP: str
    hostIPs: list[HostIP]
    initContainerStatuses: list[ContainerStatus]
    message: str
    nodeAllocatableResourceClaimStatuses: list[NodeAllocatableResourceClaimStatus]
    nominatedNodeName: str
    observedGeneration: int
    phase: str
    podIP: str
    podIPs: list[PodIP]
    qosClass: str
    reason: str
    resize: str
    resourceClaimStatuses: list[PodResourceClaimStatus]
    resources: ResourceRequirements
    startTime: meta_v1.Time


class PodTemplate(TypedDict, total=False):
    """Object of the resource `podtemplates` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["PodTemplate"]]
    metadata: Required[meta_v1.ObjectMeta]
    template: Required[PodTemplateSpec]


class PodTemplateList(TypedDict, total=False):
    """Response with a list of `PodTemplate`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[PodTemplate]]
    kind: Required[Literal["PodTemplateList"]]
    metadata: Required[meta_v1.ListMeta]


class PodTemplateSpec(TypedDict, total=False):
    """Type of `DaemonSetSpec.template`, `DeploymentSpec.template` and more fields."""

    metadata: meta_v1.ObjectMeta
    spec: Required[PodSpec]


class PortStatus(TypedDict, total=False):
    """Type of `LoadBalancerIngress.ports`."""

    error: str
    port: Required[int]
    protocol: Required[str]


class PortworxVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.portworxVolume`, `Volume.portworxVolume`."""

    fsType: str
    readOnly: bool
    volumeID: Required[str]


class PreferredSchedulingTerm(TypedDict, total=False):
    """Type of `NodeAffinity.preferredDuringSchedulingIgnoredDuringExecution`."""

    preference: Required[NodeSelectorTerm]
    weight: Required[int]


class Probe(TypedDict, total=False):
    """Type of `Container.livenessProbe`, `Container.readinessProbe` and more fields."""

    exec: ExecAction
    failureThreshold: int
    grpc: GRPCAction
    httpGet: HTTPGetAction
    initialDelaySeconds: int
    periodSeconds: int
    successThreshold: int
    tcpSocket: TCPSocketAction
    terminationGracePeriodSeconds: int
    timeoutSeconds: int


class ProjectedVolumeSource(TypedDict, total=False):
    """Type of `Volume.projected`."""

    defaultMode: int
    sources: list[VolumeProjection]


class QuobyteVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.quobyte`, `Volume.quobyte`."""

    group: str
    readOnly: bool
    registry: Required[str]
    tenant: str
    user: str
    volume: Required[str]


class RBDPersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.rbd`."""

    fsType: str
    image: Required[str]
    keyring: str
    monitors: Required[list[str]]
    pool: str
    readOnly: bool
    secretRef: SecretReference
    user: str


class RBDVolumeSource(TypedDict, total=False):
    """Type of `Volume.rbd`."""

    fsType: str
    image: Required[str]
    keyring: str
    monitors: Required[list[str]]
    pool: str
    readOnly: bool
    secretRef: LocalObjectReference
    user: str


class ReplicationController(TypedDict, total=False):
    """Object of the resource `replicationcontrollers` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["ReplicationController"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: ReplicationControllerSpec
    status: ReplicationControllerStatus


class ReplicationControllerCondition(TypedDict, total=False):
    """Type of `ReplicationControllerStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class ReplicationControllerList(TypedDict, total=False):
    """Response with a list of `ReplicationController`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[ReplicationController]]
    kind: Required[Literal["ReplicationControllerList"]]
    metadata: Required[meta_v1.ListMeta]


class ReplicationControllerSpec(TypedDict, total=False):
    """Type of `ReplicationController.spec`."""

    minReadySeconds: int
    replicas: int
    selector: dict[str, str]
    template: PodTemplateSpec


class ReplicationControllerStatus(TypedDict, total=False):
    """Type of `ReplicationController.status`."""

    availableReplicas: int
    conditions: list[ReplicationControllerCondition]
    fullyLabeledReplicas: int
    observedGeneration: int
    readyReplicas: int
    replicas: Required[int]


class ResourceClaim(TypedDict, total=False):
    """Type of `ResourceRequirements.claims`."""

    name: Required[str]
    request: str


class ResourceFieldSelector(TypedDict, total=False):
    """Type of `DownwardAPIVolumeFile.resourceFieldRef`, `EnvVarSource.resourceFieldRef`."""

    containerName: str
    divisor: meta_v1.Quantity
    resource: Required[str]


class ResourceHealth(TypedDict, total=False):
    """Type of `ResourceStatus.resources`."""

    health: str
    message: str
    resourceID: Required[str]


class ResourceQuota(TypedDict, total=False):
    """Object of the resource `resourcequotas` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["ResourceQuota"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: ResourceQuotaSpec
    status: ResourceQuotaStatus


class ResourceQuotaList(TypedDict, total=False):
    """Response with a list of `ResourceQuota`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[ResourceQuota]]
    kind: Required[Literal["ResourceQuotaList"]]
    metadata: Required[meta_v1.ListMeta]


class ResourceQuotaSpec(TypedDict, total=False):
    """Type of `ResourceQuota.spec`."""

    hard: dict[str, meta_v1.Quantity]
    scopeSelector: ScopeSelector
    scopes: list[str]


class ResourceQuotaStatus(TypedDict, total=False):
    """Type of `ResourceQuota.status`."""

    hard: dict[str, meta_v1.Quantity]
    used: dict[str, meta_v1.Quantity]


class ResourceRequirements(TypedDict, total=False):
    """Type of `Container.resources`, `ContainerStatus.resources` and more fields."""

    claims: list[ResourceClaim]
    limits: dict[str, meta_v1.Quantity]
    requests: dict[str, meta_v1.Quantity]


class ResourceStatus(TypedDict, total=False):
    """Type of `ContainerStatus.allocatedResourcesStatus`."""

    name: Required[str]
    resources: list[ResourceHealth]


class SELinuxOptions(TypedDict, total=False):
    """Type of `PodSecurityContext.seLinuxOptions`, `SecurityContext.seLinuxOptions`."""

    level: str
    role: str
    type: str
    user: str


class ScaleIOPersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.scaleIO`."""

    fsType: str
    gateway: Required[str]
    protectionDomain: str
    readOnly: bool
    secretRef: Required[SecretReference]
    sslEnabled: bool
    storageMode: str
    storagePool: str
    system: Required[str]
    volumeName: str


class ScaleIOVolumeSource(TypedDict, total=False):
    """Type of `Volume.scaleIO`."""

    fsType: str
    gateway: Required[str]
    protectionDomain: str
    readOnly: bool
    secretRef: Required[LocalObjectReference]
    sslEnabled: bool
    storageMode: str
    storagePool: str
    system: Required[str]
    volumeName: str


class ScopeSelector(TypedDict, total=False):
    """Type of `ResourceQuotaSpec.scopeSelector`."""

    matchExpressions: list[ScopedResourceSelectorRequirement]


class ScopedResourceSelectorRequirement(TypedDict, total=False):
    """Type of `ScopeSelector.matchExpressions`."""

    operator: Required[str]
    scopeName: Required[str]
    values: list[str]


class SeccompProfile(TypedDict, total=False):
    """Type of `PodSecurityContext.seccompProfile`, `SecurityContext.seccompProfile`."""

    localhostProfile: str
    type: Required[str]


class Secret(TypedDict, total=False):
    """Object of the resource `secrets` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    data: dict[str, str]
    immutable: bool
    kind: Required[Literal["Secret"]]
    metadata: Required[meta_v1.ObjectMeta]
    stringData: dict[str, str]
    type: str


class SecretEnvSource(TypedDict, total=False):
    """Type of `EnvFromSource.secretRef`."""

    name: str
    optional: bool


class SecretKeySelector(TypedDict, total=False):
    """Type of `EnvVarSource.secretKeyRef`."""

    key: Required[str]
    name: str
    optional: bool


class SecretList(TypedDict, total=False):
    """Response with a list of `Secret`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[Secret]]
    kind: Required[Literal["SecretList"]]
    metadata: Required[meta_v1.ListMeta]


class SecretProjection(TypedDict, total=False):
    """Type of `VolumeProjection.secret`."""

    items: list[KeyToPath]
    name: str
    optional: bool


class SecretReference(TypedDict, total=False):
    """Type of `CSIPersistentVolumeSource.controllerExpandSecretRef` and more fields."""

    name: str
    namespace: str


class SecretVolumeSource(TypedDict, total=False):
    """Type of `Volume.secret`."""

    defaultMode: int
    items: list[KeyToPath]
    optional: bool
    secretName: str


class SecurityContext(TypedDict, total=False):
    """Type of `Container.securityContext`, `EphemeralContainer.securityContext`."""

    allowPrivilegeEscalation: bool
    appArmorProfile: AppArmorProfile
    capabilities: Capabilities
    privileged: bool
    procMount: str
    readOnlyRootFilesystem: bool
    runAsGroup: int
    runAsNonRoot: bool
    runAsUser: int
    seLinuxOptions: SELinuxOptions
    seccompProfile: SeccompProfile
    windowsOptions: WindowsSecurityContextOptions


class Service(TypedDict, total=False):
    """Object of the resource `services` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    kind: Required[Literal["Service"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: ServiceSpec
    status: ServiceStatus


class ServiceAccount(TypedDict, total=False):
    """Object of the resource `serviceaccounts` in a namespace."""

    apiVersion: Required[Literal["v1"]]
    automountServiceAccountToken: bool
    imagePullSecrets: list[LocalObjectReference]
    kind: Required[Literal["ServiceAccount"]]
    metadata: Required[meta_v1.ObjectMeta]
    secrets: list[ObjectReference]


class ServiceAccountList(TypedDict, total=False):
    """Response with a list of `ServiceAccount`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[ServiceAccount]]
    kind: Required[Literal["ServiceAccountList"]]
    metadata: Required[meta_v1.ListMeta]


class ServiceAccountTokenProjection(TypedDict, total=False):
    """Type of `VolumeProjection.serviceAccountToken`."""

    audience: str
    expirationSeconds: int
    path: Required[str]


class ServiceList(TypedDict, total=False):
    """Response with a list of `Service`."""

    apiVersion: Required[Literal["v1"]]
    items: Required[list[Service]]
    kind: Required[Literal["ServiceList"]]
    metadata: Required[meta_v1.ListMeta]


class ServicePort(TypedDict, total=False):
    """Type of `ServiceSpec.ports`."""

    appProtocol: str
    name: str
    nodePort: int
    port: Required[int]
    protocol: str
    targetPort: meta_v1.IntOrString


class ServiceSpec(TypedDict, total=False):
    """Type of `Service.spec`."""

    allocateLoadBalancerNodePorts: bool
    clusterIP: str
    clusterIPs: list[str]
    externalIPs: list[str]
    externalName: str
    externalTrafficPolicy: str
    healthCheckNodePort: int
    internalTrafficPolicy: str
    ipFamilies: list[str]
    ipFamilyPolicy: str
    loadBalancerClass: str
    loadBalancerIP: str
    loadBalancerSourceRanges: list[str]
    ports: list[ServicePort]
    publishNotReadyAddresses: bool
    selector: dict[str, str]
    sessionAffinity: str
    sessionAffinityConfig: SessionAffinityConfig
    trafficDistribution: str
    type: str


class ServiceStatus(TypedDict, total=False):
    """Type of `Service.status`."""

    conditions: list[meta_v1.Condition]
    loadBalancer: LoadBalancerStatus


class SessionAffinityConfig(TypedDict, total=False):
    """Type of `ServiceSpec.sessionAffinityConfig`."""

    clientIP: ClientIPConfig


class SleepAction(TypedDict, total=False):
    """Type of `LifecycleHandler.sleep`."""

    seconds: Required[int]


class StorageOSPersistentVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.storageos`."""

    fsType: str
    readOnly: bool
    secretRef: ObjectReference
    volumeName: str
    volumeNamespace: str


class StorageOSVolumeSource(TypedDict, total=False):
    """Type of `Volume.storageos`."""

    fsType: str
    readOnly: bool
    secretRef: LocalObjectReference
    volumeName: str
    volumeNamespace: str


class Sysctl(TypedDict, total=False):
    """Type of `PodSecurityContext.sysctls`."""

    name: Required[str]
    value: Required[str]


class TCPSocketAction(TypedDict, total=False):
    """Type of `LifecycleHandler.tcpSocket`, `Probe.tcpSocket`."""

    host: str
    port: Required[meta_v1.IntOrString]


class Taint(TypedDict, total=False):
    """Type of `NodeSpec.taints`."""

    effect: Required[str]
    key: Required[str]
    timeAdded: meta_v1.Time
    value: str


class Toleration(TypedDict, total=False):
    """Type of `PodSpec.tolerations`, `Scheduling.tolerations`."""

    effect: str
    key: str
    operator: str
    tolerationSeconds: int
    value: str


class TopologySelectorLabelRequirement(TypedDict, total=False):
    """Type of `TopologySelectorTerm.matchLabelExpressions`."""

    key: Required[str]
    values: Required[list[str]]


class TopologySelectorTerm(TypedDict, total=False):
    """Type of `StorageClass.allowedTopologies`."""

    matchLabelExpressions: list[TopologySelectorLabelRequirement]


class TopologySpreadConstraint(TypedDict, total=False):
    """Type of `PodSpec.topologySpreadConstraints`."""

    labelSelector: meta_v1.LabelSelector
    matchLabelKeys: list[str]
    maxSkew: Required[int]
    minDomains: int
    nodeAffinityPolicy: str
    nodeTaintsPolicy: str
    topologyKey: Required[str]
    whenUnsatisfiable: Required[str]


class TypedLocalObjectReference(TypedDict, total=False):
    """Type of `PersistentVolumeClaimSpec.dataSource`, `IngressBackend.resource`."""

    apiGroup: str
    kind: Required[str]
    name: Required[str]


class TypedObjectReference(TypedDict, total=False):
    """Type of `PersistentVolumeClaimSpec.dataSourceRef`."""

    apiGroup: str
    kind: Required[str]
    name: Required[str]
    namespace: str


class Volume(TypedDict, total=False):
    """Type of `PodSpec.volumes`."""

    awsElasticBlockStore: AWSElasticBlockStoreVolumeSource
    azureDisk: AzureDiskVolumeSource
    azureFile: AzureFileVolumeSource
    cephfs: CephFSVolumeSource
    cinder: CinderVolumeSource
    configMap: ConfigMapVolumeSource
    csi: CSIVolumeSource
    downwardAPI: DownwardAPIVolumeSource
    emptyDir: EmptyDirVolumeSource
    ephemeral: EphemeralVolumeSource
    fc: FCVolumeSource
    flexVolume: FlexVolumeSource
    flocker: FlockerVolumeSource
    gcePersistentDisk: GCEPersistentDiskVolumeSource
    gitRepo: GitRepoVolumeSource
    glusterfs: GlusterfsVolumeSource
    hostPath: HostPathVolumeSource
    image: ImageVolumeSource
    iscsi: ISCSIVolumeSource
    name: Required[str]
    nfs: NFSVolumeSource
    persistentVolumeClaim: PersistentVolumeClaimVolumeSource
    photonPersistentDisk: PhotonPersistentDiskVolumeSource
    portworxVolume: PortworxVolumeSource
    projected: ProjectedVolumeSource
    quobyte: QuobyteVolumeSource
    rbd: RBDVolumeSource
    scaleIO: ScaleIOVolumeSource
    secret: SecretVolumeSource
    storageos: StorageOSVolumeSource
    vsphereVolume: VsphereVirtualDiskVolumeSource


class VolumeDevice(TypedDict, total=False):
    """Type of `Container.volumeDevices`, `EphemeralContainer.volumeDevices`."""

    devicePath: Required[str]
    name: Required[str]


class VolumeMount(TypedDict, total=False):
    """Type of `Container.volumeMounts`, `EphemeralContainer.volumeMounts`."""

    mountPath: Required[str]
    mountPropagation: str
    name: Required[str]
    readOnly: bool
    recursiveReadOnly: str
    subPath: str
    subPathExpr: str


class VolumeMountStatus(TypedDict, total=False):
    """Type of `ContainerStatus.volumeMounts`."""

    mountPath: Required[str]
    name: Required[str]
    readOnly: bool
    recursiveReadOnly: str
    volumeStatus: VolumeStatus


class VolumeNodeAffinity(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.nodeAffinity`."""

    required: NodeSelector


class VolumeProjection(TypedDict, total=False):
    """Type of `ProjectedVolumeSource.sources`."""

    clusterTrustBundle: ClusterTrustBundleProjection
    configMap: ConfigMapProjection
    downwardAPI: DownwardAPIProjection
    podCertificate: PodCertificateProjection
    secret: SecretProjection
    serviceAccountToken: ServiceAccountTokenProjection


class VolumeResourceRequirements(TypedDict, total=False):
    """Type of `PersistentVolumeClaimSpec.resources`."""

    limits: dict[str, meta_v1.Quantity]
    requests: dict[str, meta_v1.Quantity]


class VolumeStatus(TypedDict, total=False):
    """Type of `VolumeMountStatus.volumeStatus`."""

    image: ImageVolumeStatus


class VsphereVirtualDiskVolumeSource(TypedDict, total=False):
    """Type of `PersistentVolumeSpec.vsphereVolume`, `Volume.vsphereVolume`."""

    fsType: str
    storagePolicyID: str
    storagePolicyName: str
    volumePath: Required[str]


class WeightedPodAffinityTerm(TypedDict, total=False):
    """Type of `PodAffinity.preferredDuringSchedulingIgnoredDuringExecution` and more fields."""

    podAffinityTerm: Required[PodAffinityTerm]
    weight: Required[int]


class WindowsSecurityContextOptions(TypedDict, total=False):
    """Type of `PodSecurityContext.windowsOptions`, `SecurityContext.windowsOptions`."""

    gmsaCredentialSpec: str
    gmsaCredentialSpecName: str
    hostProcess: bool
    runAsUserName: str


GROUP_VERSION: Final = GroupVersion("", "v1")

RESOURCES: Final = {
    "Binding": ("bindings", True),
    "ComponentStatus": ("componentstatuses", False),
    "ConfigMap": ("configmaps", True),
    "Endpoints": ("endpoints", True),
    "Event": ("events", True),
    "LimitRange": ("limitranges", True),
    "Namespace": ("namespaces", False),
    "Node": ("nodes", False),
    "PersistentVolume": ("persistentvolumes", False),
    "PersistentVolumeClaim": ("persistentvolumeclaims", True),
    "Pod": ("pods", True),
    "PodTemplate": ("podtemplates", True),
    "ReplicationController": ("replicationcontrollers", True),
    "ResourceQuota": ("resourcequotas", True),
    "Secret": ("secrets", True),
    "Service": ("services", True),
    "ServiceAccount": ("serviceaccounts", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
