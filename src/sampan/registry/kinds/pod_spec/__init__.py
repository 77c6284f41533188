"""Rules of pod specs, which Pods and the templates of all workloads share."""
