/** First text of a new object: required fields, commented optional ones, an example, or a copy of another object. */
import { childSchema, typeOf } from "../schema/schema.js";
import { yamlOf } from "./manifest.js";
import { withoutServerFields } from "./server_fields.js";

const DEPTH_MAX = 5;
const OPTIONAL_MAX = 40;
const EXAMPLE = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * @typedef {import("../schema/schema.js").Schema} Schema
 */

/**
 * Return a skeleton: fields that the schema requires, and the others as comments.
 * @param {{ group: string, version: string, kind: string, namespaced: boolean }} kind
 * @param {string} namespace
 * @param {Schema | null} schema
 */
export function skeletonOf(kind, namespace, schema) {
  const head = `apiVersion: ${kind.group ? `${kind.group}/` : ""}${kind.version}\nkind: ${kind.kind}\nmetadata:\n  name: ""\n`;
  const place = kind.namespaced ? `  namespace: ${yamlOf(namespace || "default")}` : "";
  const names = Object.keys(schema?.node.properties ?? {}).filter((name) => !["apiVersion", "kind", "metadata", "status"].includes(name));
  return head + place + names.map((name) => field(name, childSchema(schema, name), "", name === "spec" || required(schema).has(name), 0)).join("");
}

/** @param {Schema | null} schema */
function required(schema) {
  return new Set(/** @type {string[]} */ (schema?.node.required ?? []));
}

/**
 * @param {string} name
 * @param {Schema | null} schema
 * @param {string} indent
 * @param {boolean} needed
 * @param {number} depth
 * @returns {string}
 */
function field(name, schema, indent, needed, depth) {
  const node = schema?.node ?? {};
  if (!needed) return `${indent}# ${name}: ${placeholder(schema)}\n`;
  const properties = Object.keys(node.properties ?? {});
  if (properties.length && depth < DEPTH_MAX) return `${indent}${name}:\n${inside(schema, `${indent}  `, depth + 1)}`;
  if (node.type === "array" && depth < DEPTH_MAX) {
    const item = childSchema(schema, 0);
    if (item?.node.properties) return `${indent}${name}:\n${inside(item, `${indent}    `, depth + 1).replace(`${indent}    `, `${indent}  - `)}`;
  }
  return `${indent}${name}: ${value(node)}\n`;
}

/** @param {Schema | null} schema @param {string} indent @param {number} depth */
function inside(schema, indent, depth) {
  const names = Object.keys(schema?.node.properties ?? {});
  const needed = required(schema);
  const first = names.filter((name) => needed.has(name)).map((name) => field(name, childSchema(schema, name), indent, true, depth));
  const others = names.filter((name) => !needed.has(name)).slice(0, OPTIONAL_MAX).map((name) => field(name, childSchema(schema, name), indent, false, depth));
  return first.concat(others).join("");
}

/** @param {any} node */
function value(node) {
  if (node.default !== undefined) return JSON.stringify(node.default);
  if (node.enum) return yamlOf(node.enum[0]).trimEnd();
  return { integer: "0", number: "0", boolean: "false", array: "[]", object: "{}" }[/** @type {string} */ (node.type)] ?? '""';
}

/** @param {Schema | null} schema */
function placeholder(schema) {
  const { node } = schema ?? { node: /** @type {any} */ ({}) };
  if (node.default !== undefined) return JSON.stringify(node.default);
  if (Array.isArray(node.enum)) return node.enum.join(" | ");
  return typeOf(schema);
}

/**
 * Return the example of a schema or of a CRD, or null.
 * @param {Schema | null} schema
 * @param {any} crd
 */
export function exampleOf(schema, crd) {
  const example = schema?.node.example;
  if (example && typeof example === "object") return yamlOf(example);
  for (const name of ["alm-examples", "example"]) {
    const text = crd?.metadata?.annotations?.[name];
    if (typeof text !== "string") continue;
    try {
      const found = JSON.parse(text);
      const list = Array.isArray(found) ? found : [found];
      const wanted = list.find((each) => each?.kind === crd.spec?.names?.kind) ?? list[0];
      if (wanted) return yamlOf(wanted);
    } catch {
      return text;
    }
  }
  return null;
}

/**
 * Return the text of a copy of an object, without what the server and other owners write.
 * @param {any} object
 */
export function cloneOf(object) {
  const { status: _, ...copy } = withoutServerFields(object);
  const { ownerReferences: _owners, finalizers: _finalizers, ...metadata } = copy.metadata;
  const annotations = Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => name !== EXAMPLE && name !== "deployment.kubernetes.io/revision"));
  const named = { ...metadata, name: `${metadata.name}-copy`, ...(metadata.annotations ? { annotations } : {}) };
  if (Object.keys(annotations).length === 0) delete named.annotations;
  delete named.generateName;
  return yamlOf({ apiVersion: copy.apiVersion, kind: copy.kind, ...copy, metadata: named });
}
