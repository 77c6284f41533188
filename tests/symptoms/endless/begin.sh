kubectl apply -f crd.yaml
kubectl apply -f junk.yaml
