kubectl apply -f crd.yaml
kubectl apply -f junk.yaml
kubectl create serviceaccount boats
kubectl create clusterrole boats --verb=get,list,watch --resource=boats.harbour.example.com
kubectl create clusterrolebinding boats --clusterrole=boats --serviceaccount=default:boats
kubectl config set-credentials boats --token="$(kubectl create token boats)"
kubectl config set-context boats --cluster=sampan --user=boats
