kubectl create deployment web --image=host -- sh -c ': ${HARBOUR:?is not set}; sleep 1000'
