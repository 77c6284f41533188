"""`python -m sampan.cli.kubectl`: the program `kubectl-sampan`."""

from sampan.cli.entry import kubectl_sampan

if __name__ == "__main__":
    kubectl_sampan()
