/** Rows that match the terms of a filter. The time is bounded. */
import { textOf } from "../table/columns.js";
import { compareKeys, sortKey } from "../table/values.js";

/** Time in milliseconds after which a filter stops. */
export const BUDGET_MS = 400;
const CHECK_EVERY = 64;
/** Characters of a text that a regular expression sees. */
const TEXT_MAX = 253;

/**
 * @typedef {import("../table/store.js").Row} Row
 * @typedef {import("../table/columns.js").ListColumn} ListColumn
 * @typedef {(row: Row) => boolean} Match
 * @typedef {{ columns: ListColumn[], healthOf: (row: Row) => { level: string, text: string }, now: number }} Context
 */

/**
 * Return the rows that all terms match, and after how many the time was over (0: it was not).
 * @param {Row[]} rows
 * @param {import("./parse.js").Term[]} terms
 * @param {Context} context
 * @param {number} budget time in milliseconds
 * @returns {{ rows: Row[], stoppedAfter: number }}
 */
export function matching(rows, terms, context, budget = BUDGET_MS) {
  const matches = terms.map((term) => matcher(term, context)).filter((each) => each !== null);
  if (matches.length === 0) return { rows: [...rows], stoppedAfter: 0 };
  const began = performance.now();
  const found = [];
  for (let i = 0; i < rows.length; i++) {
    if (i % CHECK_EVERY === 0 && performance.now() - began > budget) return { rows: found, stoppedAfter: i };
    if (matches.every((match) => match(rows[i]))) found.push(rows[i]);
  }
  return { rows: found, stoppedAfter: 0 };
}

/**
 * Return the names of columns that terms name, and the list does not have.
 * @param {import("./parse.js").Term[]} terms
 * @param {ListColumn[]} columns
 */
export function unknownColumns(terms, columns) {
  return terms.flatMap((term) => (term.type === "column" && !columnNamed(columns, term.column) ? [term.column] : []));
}

/**
 * @param {import("./parse.js").Term} term
 * @param {Context} context
 * @returns {Match | null}
 */
function matcher(term, context) {
  switch (term.type) {
    case "word":
      return (row) => row.metadata.name.toLowerCase().includes(term.text) !== term.negated;
    case "regex":
      return (row) => /** @type {RegExp} */ (term.pattern).test(row.metadata.name.slice(0, TEXT_MAX)) !== term.negated;
    case "namespace":
      return (row) => (row.metadata.namespace ?? "").includes(term.text) !== term.negated;
    case "status":
      return (row) => {
        const { level, text } = context.healthOf(row);
        return (text.toLowerCase().includes(term.text) || level === term.text) !== term.negated;
      };
    case "age":
      return ageMatcher(term.operator, term.seconds, context.now);
    case "column":
      return columnMatcher(term, context);
    default:
      return null;
  }
}

/**
 * @param {"<" | ">"} operator
 * @param {number} seconds
 * @param {number} now
 * @returns {Match}
 */
function ageMatcher(operator, seconds, now) {
  return ({ metadata }) => {
    const age = (now - Date.parse(metadata.creationTimestamp ?? "")) / 1000;
    return operator === "<" ? age < seconds : age > seconds;
  };
}

/**
 * @param {Extract<import("./parse.js").Term, { type: "column" }>} term
 * @param {Context} context
 * @returns {Match | null}
 */
function columnMatcher({ column: name, operator, value }, { columns }) {
  const column = columnNamed(columns, name);
  if (!column) return null;
  const wanted = sortKey(value, column.durations);
  const lower = value.toLowerCase();
  return (row) => {
    const text = textOf(row, column);
    if (operator === "=") return text.toLowerCase() === lower;
    if (operator === "!=") return text.toLowerCase() !== lower;
    const key = sortKey(text, column.durations);
    if (key.empty) return false;
    const order = compareKeys(key, wanted);
    return operator === "<" ? order < 0 : order > 0;
  };
}

/**
 * @param {ListColumn[]} columns
 * @param {string} name
 */
function columnNamed(columns, name) {
  return columns.find((each) => each.id.toLowerCase() === name.toLowerCase());
}
