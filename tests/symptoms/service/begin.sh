kubectl create deployment web --image=web --replicas=2
kubectl expose deployment web --port=80 --selector=app=wbe
