kubectl apply -f old.yaml
kubectl apply -f junk.yaml
