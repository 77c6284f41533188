"""Control loops that serve custom resources: definitions, clean-up after a definition, declarative conversions."""
