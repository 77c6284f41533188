/** Schemas of OpenAPI v3: the one of a field, and its description. */

/**
 * @typedef {{ description?: string, properties?: Record<string, any>, items?: any, additionalProperties?: any, $ref?: string,
 *   allOf?: any[], [key: string]: unknown }} Node
 * @typedef {{ node: Node, components: Record<string, Node>, own: string }} Schema
 * `own` is the description at the place of the reference, which is more specific.
 */

const PREFIX = "#/components/schemas/";
const DEPTH_MAX = 8;

/**
 * Return the schema of a kind in a document of OpenAPI, or null.
 * @param {any} document
 * @param {{ group: string, version: string, kind: string }} kind
 * @returns {Schema | null}
 */
export function kindSchema(document, { group, version, kind }) {
  const components = document?.components?.schemas ?? {};
  for (const node of Object.values(components)) {
    const kinds = node["x-kubernetes-group-version-kind"] ?? [];
    if (kinds.some((/** @type {any} */ each) => each.group === group && each.version === version && each.kind === kind)) {
      return { node, components, own: node.description ?? "" };
    }
  }
  return null;
}

/**
 * Return the schema of a field or of an item, or null.
 * @param {Schema | null} schema
 * @param {string | number} name
 * @returns {Schema | null}
 */
export function childSchema(schema, name) {
  if (!schema) return null;
  const { node, components } = schema;
  const properties = node.properties;
  const child =
    typeof name === "number" ? node.items : properties && Object.hasOwn(properties, name) ? properties[name] : node.additionalProperties;
  if (!child || typeof child !== "object") return null;
  return { node: resolved(child, components), components, own: child.description ?? "" };
}

/**
 * @param {Node} node
 * @param {Record<string, Node>} components
 * @returns {Node}
 */
function resolved(node, components) {
  let current = node;
  for (let i = 0; i < DEPTH_MAX; i++) {
    const reference = current.$ref ?? (current.allOf?.length === 1 ? current.allOf[0].$ref : undefined);
    if (!reference?.startsWith(PREFIX)) return current;
    current = components[reference.slice(PREFIX.length)] ?? {};
  }
  return current;
}

/**
 * Return the description of a schema.
 * @param {Schema | null} schema
 */
export function descriptionOf(schema) {
  return schema ? schema.own || schema.node.description || "" : "";
}

/**
 * Return the type of a field as people say it: `string`, `Container[]`.
 * @param {Schema | null} schema
 * @returns {string}
 */
export function typeOf(schema) {
  const node = schema?.node;
  if (!node) return "";
  if (node["x-kubernetes-int-or-string"]) return "int | string";
  if (node.type === "array") return `${typeOf(childSchema(schema, 0)) || "any"}[]`;
  return String(node.type ?? (node.properties || node.additionalProperties ? "object" : ""));
}
