kubectl apply -f webhook.yaml
