"""Field sets: the fields of an object that one manager owns, in the form of FieldsV1."""
