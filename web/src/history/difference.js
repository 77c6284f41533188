/** Lines in which two states of an object differ, for the view of a comparison. */
import { hiddenValues, inOrderOf } from "../edit/comparison.js";
import { align } from "../edit/lines.js";
import { manifestOf } from "../edit/manifest.js";

/**
 * @typedef {{ before: string | null, after: string | null, changed: boolean }} Pair
 * Line of each state; null: the line is absent there.
 * @typedef {{ rows: (Pair | number)[], left: number }} Difference
 * Numbers stand for as many equal lines. `left`: rows that are not shown.
 */

const CONTEXT = 3;
const ROWS_MAX = 2000;
const WORD = /\w/;
/** What each write changes. */
const NOISE = ["managedFields", "resourceVersion", "generation", "selfLink"];

/**
 * Return the differences of two states.
 * @param {any} before null: the object did not exist
 * @param {any} after
 * @param {{ status: boolean }} options `status`: compare it too
 * @returns {Difference}
 */
export function differenceOf(before, after, { status }) {
  const [from, to] = [before, after].map((each) => each && shown(each, status));
  const hidden = [from && hiddenValues(from, from), to && hiddenValues(to, from ?? to)];
  const texts = [hidden[0] && hidden[1] ? inOrderOf(hidden[0], hidden[1]) : hidden[0], hidden[1]].map((each) => (each ? manifestOf(each).trimEnd().split("\n") : []));
  const pairs = align(texts).map(({ texts: [left, right] }) => ({ before: left, after: right, changed: left !== right }));
  const rows = folded(pairs);
  return { rows: rows.slice(0, ROWS_MAX), left: Math.max(0, rows.length - ROWS_MAX) };
}

/** @param {any} object @param {boolean} status */
function shown(object, status) {
  const copy = { ...object, metadata: { ...object.metadata } };
  for (const name of NOISE) delete copy.metadata[name];
  if (!status) delete copy.status;
  return copy;
}

/** @param {Pair[]} pairs @returns {(Pair | number)[]} */
function folded(pairs) {
  const near = pairs.map(() => false);
  pairs.forEach(({ changed }, i) => {
    if (!changed) return;
    for (let k = Math.max(0, i - CONTEXT); k <= Math.min(pairs.length - 1, i + CONTEXT); k++) near[k] = true;
  });
  /** @type {(Pair | number)[]} */
  const rows = [];
  pairs.forEach((pair, i) => {
    const last = rows.at(-1);
    if (near[i]) rows.push(pair);
    else if (typeof last === "number") rows[rows.length - 1] = last + 1;
    else rows.push(1);
  });
  return rows;
}

/**
 * Return the rows as one column: of each group of changed lines, first those before, then those after.
 * @param {(Pair | number)[]} rows
 * @returns {({ text: string, other: string | null, side: "before" | "after" | "" } | number)[]}
 * `other`: the line that this one replaces, or that replaces it.
 */
export function unified(rows) {
  /** @type {({ text: string, other: string | null, side: "before" | "after" | "" } | number)[]} */
  const found = [];
  /** @type {Pair[]} */
  let group = [];
  const flush = () => {
    for (const { before, after } of group) if (before !== null) found.push({ text: before, other: after, side: "before" });
    for (const { before, after } of group) if (after !== null) found.push({ text: after, other: before, side: "after" });
    group = [];
  };
  for (const row of rows) {
    if (typeof row !== "number" && row.changed) {
      group.push(row);
      continue;
    }
    flush();
    found.push(typeof row === "number" ? row : { text: row.after ?? "", other: null, side: "" });
  }
  flush();
  return found;
}

/**
 * Return a line in three parts; the second one is what differs from the other line.
 * @param {string} text
 * @param {string | null} other
 * @returns {[string, string, string]}
 */
export function parts(text, other) {
  if (other === null) return [text, "", ""];
  let start = 0;
  while (start < text.length && text[start] === other[start]) start++;
  let end = 0;
  while (end < text.length - start && end < other.length - start && text.at(-1 - end) === other.at(-1 - end)) end++;
  // Whole words are easier to read than the letters of them that differ.
  while (start > 0 && WORD.test(text[start - 1]) && (WORD.test(text[start] ?? "") || WORD.test(other[start] ?? ""))) start--;
  while (end > 0 && WORD.test(text[text.length - end])) end--;
  return [text.slice(0, start), text.slice(start, text.length - end), text.slice(text.length - end)];
}
