kubectl create namespace demo
kubectl apply -f apiservice.yaml
kubectl wait --for=jsonpath='{.status.conditions[0].status}'=False apiservice/v1.tides.example.com
