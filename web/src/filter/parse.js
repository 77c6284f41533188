/**
 * The filter language: `web -old app=front metadata.name=x ns:prod status:Running age<1h col:Ready!=True /^a/`.
 *
 * Labels and fields are selected by the server, the other terms by the page.
 */
import { durationSeconds } from "../table/values.js";
import { refusal } from "./safe_regex.js";

/**
 * @typedef {{ type: "word" | "regex", text: string, negated: boolean, pattern?: RegExp, source: string }
 *   | { type: "label" | "field", key: string, operator: "=" | "!=" | "exists", value: string, source: string }
 *   | { type: "namespace" | "status", text: string, negated: boolean, source: string }
 *   | { type: "age", operator: "<" | ">", seconds: number, source: string }
 *   | { type: "column", column: string, operator: "=" | "!=" | "<" | ">", value: string, source: string }
 *   | { type: "error", error: string, source: string }} Term
 */

const LABEL = /^([A-Za-z0-9][A-Za-z0-9._/-]*)(!=|=)(.*)$/s;
const FIELD = /^(metadata|spec|status|involvedObject)\./;
const COLUMN = /^col:(.+?)(!=|=|<|>)(.*)$/s;

/**
 * Return the terms of a filter.
 * @param {string} text
 * @returns {Term[]}
 */
export function parseFilter(text) {
  return tokens(text).map(termOf);
}

/**
 * Return the parts of a filter: at spaces, except in quotes and in regular expressions.
 * @param {string} text
 */
export function tokens(text) {
  return text.match(/-?\/(?:\\.|[^/\\])+\/|(?:"[^"]*"?|[^\s"])+/g) ?? [];
}

/**
 * @param {string} source
 * @returns {Term}
 */
function termOf(source) {
  const negated = source.length > 1 && source.startsWith("-");
  const text = unquoted(negated ? source.slice(1) : source);
  const regex = /^\/(.+)\/$/s.exec(negated ? source.slice(1) : source);
  if (regex) return regexTerm(regex[1], negated, source);
  const column = COLUMN.exec(text);
  if (column) {
    const operator = /** @type {"=" | "!=" | "<" | ">"} */ (column[2]);
    return { type: "column", column: column[1], operator, value: column[3], source };
  }
  if (/^age[<>]/.test(text)) {
    const seconds = durationSeconds(text.slice(4));
    if (Number.isNaN(seconds)) return { type: "error", error: "age", source };
    return { type: "age", operator: text[3] === "<" ? "<" : ">", seconds, source };
  }
  const prefix = /^(ns|status|label):(.*)$/s.exec(text);
  if (prefix?.[1] === "ns") return { type: "namespace", text: prefix[2], negated, source };
  if (prefix?.[1] === "status") return { type: "status", text: prefix[2].toLowerCase(), negated, source };
  if (prefix?.[1] === "label") return { type: "label", key: prefix[2], operator: "exists", value: "", source };
  const pair = LABEL.exec(text);
  if (pair) {
    const type = FIELD.test(pair[1]) ? "field" : "label";
    return { type, key: pair[1], operator: /** @type {"=" | "!="} */ (pair[2]), value: pair[3], source };
  }
  return { type: "word", text: text.toLowerCase(), negated, source };
}

/**
 * @param {string} pattern
 * @param {boolean} negated
 * @param {string} source
 * @returns {Term}
 */
function regexTerm(pattern, negated, source) {
  try {
    const compiled = new RegExp(pattern, "i");
    if (refusal(pattern)) return { type: "error", error: "regex_slow", source };
    return { type: "regex", text: pattern, negated, pattern: compiled, source };
  } catch {
    return { type: "error", error: "regex", source };
  }
}

/** @param {string} text */
function unquoted(text) {
  return text.replaceAll('"', "");
}

/**
 * Return the filter without one of its terms.
 * @param {string} text
 * @param {number} index
 */
export function withoutTerm(text, index) {
  return tokens(text)
    .filter((_, i) => i !== index)
    .join(" ");
}

/**
 * Return the parameters that select by label and field on the server.
 * @param {Term[]} terms
 * @returns {Record<string, string>}
 */
export function selectorsOf(terms) {
  /** @type {string[]} */
  const labels = [];
  /** @type {string[]} */
  const fields = [];
  for (const term of terms) {
    if (term.type !== "label" && term.type !== "field") continue;
    const text = term.operator === "exists" ? term.key : `${term.key}${term.operator}${term.value}`;
    (term.type === "label" ? labels : fields).push(text);
  }
  return {
    ...(labels.length ? { labelSelector: labels.join(",") } : {}),
    ...(fields.length ? { fieldSelector: fields.join(",") } : {}),
  };
}
