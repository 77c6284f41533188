/** Columns of a list: those of the server, the namespace, and which of them is the age. */
import { visible } from "../transport/errors.js";
import { cellText, sortKey } from "./values.js";

/**
 * @typedef {import("./store.js").Row} Row
 * @typedef {{ id: string, title: string, description: string, kind: "name" | "namespace" | "age" | "text",
 *   index: number, wide: boolean, numeric: boolean, durations: boolean }} ListColumn
 */

/** @type {ListColumn} */
const NAMESPACE = {
  id: "Namespace", title: "", description: "", kind: "namespace", index: -1, wide: false, numeric: false, durations: false,
};
const DURATIONS = /^(age|duration|last|first|last seen|first seen|last schedule|up-?time)$/i;

/**
 * Return the columns of a list.
 * @param {import("./store.js").Column[]} definitions
 * @param {{ namespaced: boolean, wide: boolean }} options
 * @returns {ListColumn[]}
 */
export function listColumns(definitions, { namespaced, wide }) {
  const columns = definitions.map((each, index) => columnOf(each, index)).filter((each) => wide || !each.wide);
  const name = columns.findIndex((each) => each.kind === "name");
  if (namespaced && columns.length) columns.splice(name + 1, 0, NAMESPACE);
  return columns;
}

/**
 * @param {import("./store.js").Column} definition
 * @param {number} index
 * @returns {ListColumn}
 */
function columnOf(definition, index) {
  const isName = definition.format === "name";
  const isAge = definition.name === "Age";
  return {
    id: definition.name,
    title: definition.name,
    description: definition.description ?? "",
    kind: isName ? "name" : isAge ? "age" : "text",
    index,
    wide: (definition.priority ?? 0) > 0,
    numeric: definition.type === "integer" || definition.type === "number",
    durations: definition.type === "date" || DURATIONS.test(definition.name),
  };
}

/**
 * Return the text of a row in a column.
 * @param {Row} row
 * @param {ListColumn} column
 */
export function textOf(row, column) {
  return column.kind === "namespace" ? (row.metadata.namespace ?? "") : visible(cellText(row.cells[column.index]));
}

/**
 * Return the sort key of a row in a column. Ages come from the creation time, as cells are not updated while they age.
 * @param {Row} row
 * @param {ListColumn} column
 */
export function keyOf(row, column) {
  if (column.kind === "age" && row.metadata.creationTimestamp) {
    return { empty: false, number: -Date.parse(row.metadata.creationTimestamp), text: "" };
  }
  return sortKey(column.kind === "namespace" ? row.metadata.namespace : row.cells[column.index], column.durations);
}

/** Rows from which the widths are estimated. */
const SAMPLE = 200;
/** Width in characters. */
const WIDTH_MIN = 6;
const WIDTH_MAX = 46;

/**
 * Return the width of each column in characters, from its title and a sample of the rows.
 * @param {ListColumn[]} columns
 * @param {Row[]} rows
 */
export function columnWidths(columns, rows) {
  const step = Math.max(1, Math.floor(rows.length / SAMPLE));
  return columns.map((column) => {
    let width = Math.max(WIDTH_MIN, column.title.length + 2.500);
    for (let i = 0; i < rows.length; i += step) {
      if (column.kind !== "age") width = Math.max(width, displayWidth(textOf(rows[i], column)));
    }
    return Math.min(WIDTH_MAX, width);
  });
}

/** @param {string} text */
function displayWidth(text) {
  return text.length > WIDTH_MAX ? WIDTH_MAX : text.length;
}
