mkdir data
cp kubeconfig data/kubeconfig
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=sampan-ca -keyout old.key -out old.crt -days 1
kubectl config set-cluster sampan --certificate-authority=old.crt --embed-certs=true
