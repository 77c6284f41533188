"""The operator publications."""
