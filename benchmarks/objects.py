"""Request bodies of the scenarios, of realistic size."""

FILLER = "x" * 900
NAMESPACE = "bench"
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
NETWORKS_GROUP = "bench.example.com"
NETWORKS = f"/apis/{NETWORKS_GROUP}/v1/namespaces/{NAMESPACE}/networks"

NAMESPACE_BODY = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%b"}}' % NAMESPACE.encode()
SERVICE_ACCOUNT_BODY = b'{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}}'


def config_map(number: int, *, more: str = "", prefix: str = "cm", app: str = "bench") -> bytes:
    """Return a ConfigMap of 1 kB. `more` precedes the number in its data."""
    return (
        f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{prefix}-{number:06}",'
        f'"namespace":"{NAMESPACE}","labels":{{"app":"{app}","bucket":"b{number % 10}"}}}},'
        f'"data":{{"a":"{FILLER}","n":"{more}{number}"}}}}'
    ).encode()


def applied_config_map(number: int) -> bytes:
    """Return the fields of a ConfigMap that another field manager applies."""
    return (
        f'{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"cm-{number:06}"}},"data":{{"q":"2"}}}}'
    ).encode()


_CONTAINERS = (
    '[{"name":"web","image":"nginx:1.27","command":["nginx","-g","daemon off;"],'
    '"ports":[{"containerPort":80,"name":"http"},{"containerPort":443,"name":"https"}],'
    '"env":[{"name":"A","value":"1"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],'
    '"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"500m","memory":"128Mi"}},'
    '"livenessProbe":{"httpGet":{"path":"/healthz","port":"http"},"periodSeconds":5},'
    '"volumeMounts":[{"name":"data","mountPath":"/data"}]},'
    '{"name":"side","image":"envoy:1.30","args":["--x"],"resources":{"requests":{"cpu":"50m"}}}]'
)


def pod(number: int) -> bytes:
    """Return a Pod with two containers, a volume and a toleration, bound to a node."""
    return (
        f'{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"pod-{number:06}","namespace":"{NAMESPACE}",'
        f'"labels":{{"app":"web","tier":"front","bucket":"b{number % 10}"}},'
        f'"annotations":{{"example.com/owner":"team-a"}}}},'
        f'"spec":{{"nodeName":"node-{number % 100}","containers":{_CONTAINERS},'
        f'"volumes":[{{"name":"data","emptyDir":{{}}}}],'
        f'"tolerations":[{{"key":"dedicated","operator":"Exists"}}]}}}}'
    ).encode()


CRD_BODY = (
    b'{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",'
    b'"metadata":{"name":"networks.%b"},'
    b'"spec":{"group":"%b","scope":"Namespaced",'
    b'"names":{"kind":"Network","plural":"networks","singular":"network"},'
    b'"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",'
    b'"properties":{"spec":{"type":"object","required":["cidr"],"properties":{'
    b'"cidr":{"type":"string","pattern":"^[0-9./]+$"},"gateway":{"type":"string"},'
    b'"mtu":{"type":"integer","default":1500,"minimum":576},'
    b'"tags":{"type":"array","items":{"type":"string"}}}}}}}}]}}'
) % ((NETWORKS_GROUP.encode(),) * 2)


def network(number: int) -> bytes:
    """Return a custom resource whose schema has a pattern and a default."""
    subnet = f"10.{number // 256 % 256}.{number % 256}"
    return (
        f'{{"apiVersion":"{NETWORKS_GROUP}/v1","kind":"Network","metadata":{{"name":"net-{number:06}",'
        f'"namespace":"{NAMESPACE}"}},'
        f'"spec":{{"cidr":"{subnet}.0/24","gateway":"{subnet}.1","tags":["a","b"]}}}}'
    ).encode()
