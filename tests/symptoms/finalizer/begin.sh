kubectl apply -f crd.yaml
kubectl apply -f junk.yaml
kubectl patch boat junk --type=merge -p '{"metadata": {"finalizers": ["harbour.example.com/moorings"]}}'
