"""Parts of Pods, containers and volumes that a node agent reads. Views are read only; changes are sent as patches."""
