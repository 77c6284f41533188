kubectl create quota small --hard=pods=1
kubectl wait --for=jsonpath='{.status.hard.pods}'=1 quota/small
kubectl create deployment web --image=web --replicas=2
