/** Routes of the page: `list/…`, `deleted/…` and `kind/GROUP/VERSION/RESOURCE`, `object/…`, `compare/…` and `edit/GROUP/VERSION/RESOURCE[/NAMESPACE]/NAME`. */
import { computed } from "@preact/signals";
import { BASE, query, withQuery } from "./location.js";

/** Name of the group "" in addresses. */
export const CORE = "core";

/**
 * @typedef {{ name: "home" } | { name: "login" } | { name: "sessions" } | { name: "controllers" } | { name: "missing" } | { name: "server", page: string }
 *   | { name: "list" | "create" | "deleted" | "kind", group: string, version: string, plural: string }
 *   | { name: "object" | "edit" | "compare", group: string, version: string, plural: string, namespace: string, object: string }} Route
 */

/** Names of all routes, for the tests that visit each of them. */
export const ROUTE_NAMES = ["home", "login", "list", "object", "edit", "compare", "create", "deleted", "kind", "server", "sessions", "controllers", "missing"];

/** Pages of the server, in the order of their links. */
export const SERVER_PAGES = ["charts", "requests", "state", "who-can"];

/**
 * Return the route of a path.
 * @param {string} path
 * @returns {Route}
 */
export function routeOf(path) {
  const parts = path.split("?")[0].slice(BASE.length).split("/").filter(Boolean).map(decoded);
  if (!path.startsWith(BASE.slice(0, -1))) return { name: "missing" };
  if (parts.length === 0) return { name: "home" };
  const [first, group, version, plural, ...rest] = parts;
  if (first === "login" && parts.length === 1) return { name: "login" };
  if (first === "server" && group === "sessions" && parts.length === 2) return { name: "sessions" };
  if (first === "server" && parts.length <= 2 && SERVER_PAGES.includes(group ?? SERVER_PAGES[0])) return { name: "server", page: group ?? SERVER_PAGES[0] };
  if (first === "server" && group === "controllers" && parts.length === 2) return { name: "controllers" };
  if (first === "create" && parts.length === 1) return { name: "create", group: "", version: "", plural: "" };
  if (plural === undefined) return { name: "missing" };
  const resource = { group: group === CORE ? "" : group, version, plural };
  if ((first === "list" || first === "create" || first === "deleted" || first === "kind") && rest.length === 0) return { name: first, ...resource };
  if ((first === "object" || first === "edit" || first === "compare") && (rest.length === 1 || rest.length === 2)) {
    const [namespace, object] = rest.length === 2 ? rest : ["", rest[0]];
    return { name: first, ...resource, namespace, object };
  }
  return { name: "missing" };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Moment that the page shows: all links stay in it, also those to pages that know the present only. */
const moment = computed(() => query.value.get("at") ?? "");

/**
 * @param {string} path below the page
 * @param {Record<string, string>} [parameters]
 */
function addressOf(path, parameters = {}) {
  return withQuery(BASE + path, { at: moment.value, ...parameters });
}

/** Return the address of the overview. */
export function homeAddress() {
  return addressOf("");
}

/**
 * Return the address of a page of the server: one of `SERVER_PAGES`, the controllers, or the sessions. `/dashboard/sessions` is the place of these in the API.
 * @param {string} page
 * @param {Record<string, string>} [parameters]
 */
export function serverAddress(page, parameters = {}) {
  return addressOf(`server/${page}`, parameters);
}

/** @typedef {{ group: string, version: string, plural: string }} ResourceId */

/**
 * Return the address of the page that describes a kind.
 * @param {ResourceId} id
 * @param {Record<string, string>} [parameters] `field`: the path of a field, separated by dots
 */
export function kindAddress(id, parameters = {}) {
  return addressOf(`kind/${resourcePath(id)}`, parameters);
}

/**
 * Return the address of a list.
 * @param {ResourceId} id
 * @param {Record<string, string>} [parameters]
 */
export function listAddress(id, parameters = {}) {
  return addressOf(`list/${resourcePath(id)}`, parameters);
}

/**
 * Return the address of an object.
 * @param {ResourceId} kind
 * @param {string} namespace empty for objects of the cluster
 * @param {string} name
 * @param {Record<string, string>} [parameters]
 */
export function objectAddress(kind, namespace, name, parameters = {}) {
  return addressOf(`object/${objectPath(kind, namespace, name)}`, parameters);
}

/**
 * Return the address of the deleted objects of a kind.
 * @param {ResourceId} id
 * @param {Record<string, string>} [parameters]
 */
export function deletedAddress(id, parameters = {}) {
  return addressOf(`deleted/${resourcePath(id)}`, parameters);
}

/**
 * Return the address on which objects of a kind are created.
 * @param {ResourceId | null} id null: of any kind
 * @param {Record<string, string>} [parameters] `ns`: the namespace; `from`: namespace and name of the object to copy
 */
export function createAddress(id, parameters = {}) {
  return addressOf(id ? `create/${resourcePath(id)}` : "create", parameters);
}

/**
 * Return the address on which an object is edited.
 * @param {ResourceId} kind
 * @param {string} namespace empty for objects of the cluster
 * @param {string} name
 */
export function editAddress(kind, namespace, name) {
  return addressOf(`edit/${objectPath(kind, namespace, name)}`);
}

/**
 * Return the address on which an object is compared.
 * @param {ResourceId} kind
 * @param {string} namespace empty for objects of the cluster
 * @param {string} name
 * @param {Record<string, string>} [parameters] `with`: namespace and name of the other object
 */
export function compareAddress(kind, namespace, name, parameters = {}) {
  return addressOf(`compare/${objectPath(kind, namespace, name)}`, parameters);
}

/** @param {ResourceId} id */
function resourcePath({ group, version, plural }) {
  return [group || CORE, version, plural].map(encodeURIComponent).join("/");
}

/**
 * @param {ResourceId} kind
 * @param {string} namespace
 * @param {string} name
 */
function objectPath(kind, namespace, name) {
  return [resourcePath(kind), ...[...(namespace ? [namespace] : []), name].map(encodeURIComponent)].join("/");
}
