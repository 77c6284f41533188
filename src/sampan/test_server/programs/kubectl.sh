#!/bin/sh
# kubectl for envtest: the real one if it is on PATH, otherwise the commands of sampan with the same words.
# Usage: sh kubectl.sh DIRECTORY_OF_THE_ASSETS PYTHON ARGUMENTS...
assets=$1 python=$2
shift 2
IFS=:
for directory in $PATH; do
    if [ "$directory" != "$assets" ] && [ -x "$directory/kubectl" ] && [ ! -d "$directory/kubectl" ]; then
        exec "$directory/kubectl" "$@"
    fi
done
unset IFS
# sampan takes --kubeconfig after the command; envtest passes it first.
case ${1-} in
--kubeconfig=*)
    KUBECONFIG=${1#--kubeconfig=}
    export KUBECONFIG
    shift
    ;;
esac
exec "$python" -m sampan.cli "$@"
