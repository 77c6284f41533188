/** Limits, defaults, values and rules of a field, and a search of the fields of a schema. */

/** @typedef {import("../schema/schema.js").Schema} Schema */
/** @typedef {{ rule: string, message: string }} Rule rule of CEL with its message */

/** Keywords of OpenAPI that limit a value, in the order in which they are shown. */
const LIMITS = [
  "format", "pattern", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
  "uniqueItems", "minProperties", "maxProperties", "nullable", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
  "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
];
const ENUM_MAX = 30;
const VISITED_MAX = 20_000;

/**
 * Return the limits of a field: `minimum: 1`, `list-type: map`.
 * @param {Schema} schema
 * @returns {string[]}
 */
export function limitsOf({ node }) {
  return LIMITS.filter((name) => node[name] !== undefined && node[name] !== false).map((name) => {
    const title = name.replace("x-kubernetes-", "");
    return node[name] === true ? title : `${title}: ${[node[name]].flat().join(", ")}`;
  });
}

/**
 * Return the allowed values of a field; null if there is no list of them.
 * @param {Schema} schema
 * @returns {string[] | null}
 */
export function valuesOf({ node }) {
  const item = node.type === "array" ? node.items?.enum : undefined;
  const values = node.enum ?? item;
  return Array.isArray(values) ? values.slice(0, ENUM_MAX).map((value) => (typeof value === "string" ? value || '""' : JSON.stringify(value))) : null;
}

/**
 * Return the default of a field as JSON; null if there is none.
 * @param {Schema} schema
 */
export function defaultOf({ node }) {
  return node.default === undefined ? null : JSON.stringify(node.default);
}

/**
 * Return the rules of CEL.
 * @param {Schema} schema
 * @returns {Rule[]}
 */
export function rulesOf({ node }) {
  const rules = node["x-kubernetes-validations"];
  return Array.isArray(rules) ? rules.map((each) => ({ rule: String(each.rule), message: String(each.message ?? each.messageExpression ?? "") })) : [];
}

/**
 * Return the schema that has the fields of a value: that of an item of a list, or of a value of a map.
 * @param {Schema} schema
 * @param {(schema: Schema, name: string | number) => Schema | null} child
 * @returns {Schema}
 */
export function fieldsOf(schema, child) {
  const { node } = schema;
  if (node.properties) return schema;
  const inner = node.type === "array" || node.items ? child(schema, 0) : node.additionalProperties && typeof node.additionalProperties === "object" ? child(schema, "") : null;
  return inner ? fieldsOf(inner, child) : schema;
}

/**
 * Return the paths of the fields whose name or description contains a text, at most `limit`.
 * @param {Schema} schema
 * @param {string} text in lower case
 * @param {(schema: Schema, name: string | number) => Schema | null} child
 * @param {number} limit
 * @returns {string[][]}
 */
export function search(schema, text, child, limit) {
  /** @type {string[][]} */
  const found = [];
  // Breadth first, so that fields near the top come first. Schemas such as JSONSchemaProps contain themselves.
  /** @type {{ path: string[], at: Schema, above: object[] }[]} */
  let level = [{ path: [], at: schema, above: [] }];
  for (let visited = 0; level.length && found.length < limit; ) {
    /** @type {typeof level} */
    const next = [];
    for (const { path, at, above } of level) {
      const inner = fieldsOf(at, child);
      if (above.includes(inner.node)) continue;
      for (const name of Object.keys(inner.node.properties ?? {})) {
        if (++visited > VISITED_MAX) return found;
        const field = child(inner, name);
        if (!field) continue;
        const own = [...path, name];
        if (name.toLowerCase().includes(text) || field.own.toLowerCase().includes(text)) found.push(own);
        next.push({ path: own, at: field, above: [...above, inner.node] });
      }
    }
    level = next;
  }
  return found.slice(0, limit);
}
