"""Commands that work on stores without a server: snapshots, copies and checks."""
