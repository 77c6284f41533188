"""Manifests for these tests."""


def config_map(name: str, **data: str) -> str:
    """A ConfigMap with a label `of: tests`."""
    entries = "".join(f'  {key}: "{value}"\n' for key, value in data.items())
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  labels: {{of: tests, named: {name}}}\n"
        f"data:\n{entries}" + ("" if entries else "  {}\n")
    )


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.cli.example.com}
spec:
  group: cli.example.com
  names: {kind: Boat, plural: boats, singular: boat}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [length]
            properties: {length: {type: integer, minimum: 1}, name: {type: string, maxLength: 3}}
    additionalPrinterColumns:
    - {name: Length, type: integer, jsonPath: .spec.length}
"""


def boat(name: str, length: int = 3) -> str:
    """A Boat."""
    return f"apiVersion: cli.example.com/v1\nkind: Boat\nmetadata: {{name: {name}}}\nspec: {{length: {length}}}\n"
