"""`python -m sampan.cli.kubectl`: the same as the program `kubectl-sampan`."""

from sampan.cli.kubectl.main import main

if __name__ == "__main__":
    main()
