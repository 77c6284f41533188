/** Objects whose changes can break an object: itself, its owners, what it owns, and what it refers to. */
import { referenceAt } from "../details/references.js";
import { apiPath } from "../discovery/kinds.js";
import { readObject } from "../past/read.js";
import { session } from "../session/session.js";

/**
 * @typedef {import("../discovery/kinds.js").Kind} Kind
 * @typedef {"self" | "owner" | "owned" | "reference"} Role
 * @typedef {{ kind: Kind, namespace: string, name: string, role: Role }} Subject
 */

const OWNERS_MAX = 4;
const OWNED_MAX = 12;
const REFERENCES_MAX = 20;
/** Kinds that change all the time, or for reasons of other objects. */
const RESTLESS = new Set(["nodes", "events", "leases"]);

/**
 * Return the objects, each once; the object itself first.
 * @param {Kind} kind
 * @param {any} object
 * @param {import("../details/related.js").Owned[]} owned
 * @param {AbortSignal} signal
 * @returns {Promise<Subject[]>}
 */
export async function subjectsOf(kind, object, owned, signal) {
  const { namespace = "", name } = object.metadata;
  const owners = await ownersOf(object, namespace, signal);
  const states = [object, ...owners.map((each) => each.object)];
  /** @type {Subject[]} */
  const all = [
    { kind, namespace, name, role: "self" },
    ...owners.map(({ subject }) => subject),
    ...chosen(owned).map(({ kind: other, row }) => ({ kind: other, namespace: row.metadata.namespace ?? "", name: row.metadata.name, role: /** @type {const} */ ("owned") })),
    ...states.flatMap(referencesOf).slice(0, REFERENCES_MAX),
  ];
  return distinct(all);
}

/**
 * Return each object once.
 * @param {Subject[]} subjects
 */
export function distinct(subjects) {
  const known = new Set();
  return subjects.filter((each) => {
    const path = apiPath(each.kind, each.namespace, each.name);
    return !known.has(path) && known.add(path);
  });
}

/**
 * Return the owned objects that matter: those with problems, then the newest.
 * @param {import("../details/related.js").Owned[]} owned
 */
function chosen(owned) {
  const age = (/** @type {import("../details/related.js").Owned} */ each) => each.row.metadata.creationTimestamp ?? "";
  return [...owned].sort((a, b) => Number(Boolean(b.health.problem)) - Number(Boolean(a.health.problem)) || age(b).localeCompare(age(a))).slice(0, OWNED_MAX);
}

/**
 * Return the owners, from the nearest one up.
 * @param {any} object
 * @param {string} namespace
 * @param {AbortSignal} signal
 * @returns {Promise<{ subject: Subject, object: any }[]>}
 */
async function ownersOf(object, namespace, signal) {
  /** @type {{ subject: Subject, object: any }[]} */
  const found = [];
  let current = object;
  while (found.length < OWNERS_MAX) {
    const [owner] = current.metadata?.ownerReferences ?? [];
    const kind = owner && session.discovery.ofObject(owner.apiVersion, owner.kind);
    if (!kind || RESTLESS.has(kind.plural)) break;
    const place = kind.namespaced ? namespace : "";
    // Without the right to read an owner, its changes may still be readable.
    current = await readObject(kind, place, owner.name, { signal }).catch(() => ({}));
    found.push({ subject: { kind, namespace: place, name: owner.name, role: "owner" }, object: current });
  }
  return found;
}

/**
 * Return what an object refers to.
 * @param {any} object
 * @returns {Subject[]}
 */
export function referencesOf(object) {
  /** @type {Subject[]} */
  const found = [];
  const visit = (/** @type {any} */ value, /** @type {(string | number)[]} */ path) => {
    if (value === null || typeof value !== "object" || path.length > 20) return;
    for (const [key, each] of Object.entries(value)) {
      const inner = [...path, Array.isArray(value) ? Number(key) : key];
      const reference = referenceAt(inner, each, value, object.metadata?.namespace ?? "");
      const kind = reference && session.discovery.ofObject(reference.apiVersion, reference.kind);
      if (reference && kind && !RESTLESS.has(kind.plural)) found.push({ kind, namespace: kind.namespaced ? reference.namespace : "", name: reference.name, role: "reference" });
      visit(each, inner);
    }
  };
  const { metadata: _, status: _status, ...rest } = object;
  visit(rest, []);
  return found;
}
