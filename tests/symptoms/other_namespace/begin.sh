kubectl create namespace quay
kubectl apply -f crd.yaml
kubectl apply -f junk.yaml
