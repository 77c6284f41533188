kubectl create deployment web --image=web --dry-run=client -o yaml > web.yaml
kubectl set resources -f web.yaml --requests=cpu=100 --local -o yaml | kubectl apply -f -
