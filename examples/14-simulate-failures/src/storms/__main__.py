"""Runs the operator: python -m storms --help."""

from sampan.operator import main

from storms.app import set_up

if __name__ == "__main__":
    main(set_up, name="storms")
