from sampan.testing import Cluster, field

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web}]}
"""


async def test_a_deployment_has_ready_pods(cluster: Cluster) -> None:
    await cluster.apply(WEB)
    await cluster.eventually("deploy/web", field(".status.readyReplicas") == 2)
