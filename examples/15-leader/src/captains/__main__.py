"""Runs the operator: python -m captains --help."""

from sampan.operator import main

from captains.app import set_up

if __name__ == "__main__":
    main(set_up, name="captains")
