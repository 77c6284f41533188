/** What an object points to: references, found by the names of its fields, and selectors of labels. */
import { referenceAt } from "../details/references.js";
import { isBuiltIn } from "../discovery/kinds.js";

const DEPTH_MAX = 24;
/** Values of one object that are looked at. */
const VALUES_MAX = 5000;
const POINTERS_MAX = 500;
/** Fields that hold no references of the object itself. */
const SKIPPED = new Set(["metadata", "apiVersion", "kind"]);
/** Fields with a selector of Pods, by resource; `plain` is a map of labels. @type {Record<string, { field: string, plain?: boolean }>} */
const SELECTORS = {
  "services.": { field: "selector", plain: true },
  "poddisruptionbudgets.policy": { field: "selector" },
  "networkpolicies.networking.k8s.io": { field: "podSelector" },
};

/**
 * @typedef {import("../discovery/kinds.js").Kind} Kind
 * @typedef {{ field: string, apiVersion: string, kind: string, name: string, namespace: string, optional: boolean, guessed: boolean }} Pointer
 * A reference. `optional`: the object works without the target. `guessed`: the name of the field resembles a kind.
 * @typedef {{ field: string, text: string, labels: [string, string][], expressions: any[], namespace: string }} Selection
 * @typedef {{ pointers: Pointer[], selections: Selection[] }} Links
 */

/** @type {Links} */
export const NO_LINKS = Object.freeze({ pointers: [], selections: [] });

/**
 * Return what an object points to.
 * @param {Kind} kind
 * @param {any} object
 * @returns {Links}
 */
export function linksOf(kind, object) {
  const namespace = object?.metadata?.namespace ?? "";
  return { pointers: pointersOf(kind, object ?? {}, namespace), selections: selectionsOf(kind, object ?? {}, namespace) };
}

/** @param {Kind} kind @param {any} object @param {string} namespace */
function pointersOf(kind, object, namespace) {
  /** @type {Pointer[]} */
  const found = [];
  const guesses = !isBuiltIn(kind.group);
  let budget = VALUES_MAX;
  const walk = (/** @type {any} */ value, /** @type {(string | number)[]} */ path) => {
    if (budget-- <= 0 || path.length > DEPTH_MAX || found.length >= POINTERS_MAX) return;
    for (const name of Object.keys(value)) {
      if (path.length === 0 && SKIPPED.has(name)) continue;
      const each = value[name];
      const at = [...path, Array.isArray(value) ? Number(name) : name];
      if (each !== null && typeof each === "object") walk(each, at);
      else if (typeof each === "string" && each !== "") note(at, each, value);
    }
  };
  const note = (/** @type {(string | number)[]} */ path, /** @type {string} */ value, /** @type {any} */ parent) => {
    const reference = referenceAt(path, value, parent, namespace) ?? subjectOf(path, value, parent);
    const guess = reference || !guesses ? null : guessOf(path, value, parent);
    const target = reference ?? (guess && { apiVersion: kind.group, kind: guess, name: value, namespace: parent.namespace ?? namespace });
    if (target) found.push({ ...target, field: pathText(path), optional: parent.optional === true, guessed: Boolean(guess) });
  };
  walk(object, []);
  return found;
}

/**
 * Return a user or a group that a binding names.
 * @param {(string | number)[]} path
 * @param {string} name
 * @param {any} parent
 */
function subjectOf(path, name, parent) {
  if (path[0] !== "subjects" || path.at(-1) !== "name" || (parent.kind !== "User" && parent.kind !== "Group")) return null;
  return { apiVersion: "", kind: /** @type {string} */ (parent.kind), name, namespace: "" };
}

/**
 * Return the kind that the name of a field resembles, in lower case: `captainName`, `captainRef`.
 * @param {(string | number)[]} path
 * @param {string} value
 * @param {any} parent
 */
function guessOf(path, value, parent) {
  if (value.length > 253) return null;
  const words = path.filter((part) => typeof part === "string");
  const field = String(words.at(-1));
  const holder = String(words.at(-2) ?? "");
  if (field === "name" && typeof parent.kind !== "string") return /^(.+?)(?:Ref|Refs)$/.exec(holder)?.[1].toLowerCase() ?? null;
  return /^(.+?)(?:Name|Ref)$/.exec(field)?.[1].toLowerCase() ?? null;
}

/** @param {Kind} kind @param {any} object @param {string} namespace @returns {Selection[]} */
function selectionsOf(kind, object, namespace) {
  const known = SELECTORS[`${kind.plural}.${kind.group}`] ?? (isBuiltIn(kind.group) ? null : { field: "podSelector" });
  const selector = known && object.spec?.[known.field];
  if (!known || !selector || typeof selector !== "object") return [];
  const labels = /** @type {[string, string][]} */ (Object.entries(known.plain ? selector : (selector.matchLabels ?? {})));
  if (known.plain && labels.length === 0) return [];
  const expressions = known.plain || !Array.isArray(selector.matchExpressions) ? [] : selector.matchExpressions;
  return [{ field: `spec.${known.field}`, text: selectorText(labels, expressions), labels, expressions, namespace }];
}

/** @param {[string, string][]} labels @param {any[]} expressions */
function selectorText(labels, expressions) {
  const parts = expressions.map(({ key, operator, values }) => `${key} ${String(operator).toLowerCase()}${values ? ` (${values.join(", ")})` : ""}`);
  return [...labels.map((pair) => pair.join("=")), ...parts].join(",");
}

/**
 * Return whether a selection has an object with these labels.
 * @param {Selection} selection
 * @param {Record<string, string>} labels
 */
export function selects({ labels: wanted, expressions }, labels) {
  return wanted.every(([key, value]) => labels[key] === value) && expressions.every((each) => meets(each, labels));
}

/** @param {any} expression @param {Record<string, string>} labels */
function meets({ key, operator, values }, labels) {
  const present = Object.hasOwn(labels, key);
  if (operator === "Exists") return present;
  if (operator === "DoesNotExist") return !present;
  const among = present && (values ?? []).includes(labels[key]);
  return operator === "In" ? among : operator === "NotIn" && !among;
}

/** @param {(string | number)[]} path */
function pathText(path) {
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");
}
