/** Order of the rows: by value of one column, then by namespace and name. */
import { keyOf } from "./columns.js";
import { STEP, sortSteps } from "./slices.js";
import { compareKeys } from "./values.js";

/**
 * @typedef {{ column: string, descending: boolean }} Sort
 * @typedef {import("./store.js").Row} Row
 */

/**
 * Return the sort of an address: `Age` or `-Age`; null for the natural order.
 * @param {string} text
 * @returns {Sort | null}
 */
export function sortOf(text) {
  if (!text) return null;
  return text.startsWith("-") ? { column: text.slice(1), descending: true } : { column: text, descending: false };
}

/**
 * Return the sorted rows, in slices.
 * @param {Row[]} rows
 * @param {import("./columns.js").ListColumn[]} columns
 * @param {Sort | null} sort
 * @returns {Generator<void, Row[], void>}
 */
export function* sortRows(rows, columns, sort) {
  const column = sort && columns.find((each) => each.id === sort.column);
  if (!column || !sort) return yield* sortSteps(rows, byName);
  const sign = sort.descending ? -1 : 1;
  const keyed = [];
  for (const row of rows) {
    keyed.push({ row, key: keyOf(row, column) });
    if (keyed.length % STEP === 0) yield;
  }
  const sorted = yield* sortSteps(keyed, (a, b) => {
    // Empty cells stay last in both directions.
    if (a.key.empty !== b.key.empty) return Number(a.key.empty) - Number(b.key.empty);
    return sign * compareKeys(a.key, b.key) || byName(a.row, b.row);
  });
  return sorted.map((each) => each.row);
}

/**
 * @param {Row} a
 * @param {Row} b
 */
function byName(a, b) {
  return compare(a.metadata.namespace ?? "", b.metadata.namespace ?? "") || compare(a.metadata.name, b.metadata.name);
}

/**
 * @param {string} a
 * @param {string} b
 */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
