"""Runs the operator: python -m publications --help."""

from sampan.operator import main

from publications.app import set_up

if __name__ == "__main__":
    main(set_up, name="publications")
