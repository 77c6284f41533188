/** Health of a row, from its cells and metadata: the same words for built-in kinds and custom resources. */
import { cellText } from "../table/values.js";

/**
 * @typedef {"good" | "progress" | "warn" | "bad" | "neutral"} Level
 * @typedef {{ level: Level, text: string, column: number, problem: Problem | null }} Health
 * `column` is the cell that the health is shown in; -1: none.
 * @typedef {{ key: string, values: Record<string, string | number>, at?: string }} Problem
 * Text of a problem. `at`: the instant since which it lasts.
 */

/** Time in seconds after which an object that is not ready is a problem. */
export const PATIENCE_S = 300;
const RESTARTS_MAX = 3;
const BEHIND_MS = 60_000;

const GOOD = /^(running|ready|active|bound|available|complete|completed|succeeded|true|normal|approved|approved,issued|established|healthy|synced|ok)$/i;
const PROGRESS = /^(pending|containercreating|podinitializing|init:\d+\/\d+|terminating|progressing|waiting|released|suspended|schedulinggated|notready,schedulingdisabled|ready,schedulingdisabled|in progress|unknown)$/i;
const BAD = /(backoff|^err|error|fail|evicted|oomkilled|notready|^lost$|invalid|deadlineexceeded|^denied|unhealthy|degraded|^false$|createcontainer|imageinspect|^warning$|nodelost|unavailable|outof(cpu|memory|pods))/i;
/** Columns that tell the state, the best first. */
const STATE = ["status", "phase", "state", "ready", "healthy", "available", "synced", "type", "condition"];

/**
 * Return a function that gives the health of a row.
 * @param {import("../table/store.js").Column[]} columns
 * @returns {(row: import("../table/store.js").Row, nowMs: number) => Health}
 */
export function healthWith(columns) {
  const names = columns.map((each) => each.name.toLowerCase());
  const state = STATE.map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1;
  const ready = names.indexOf("ready");
  const desired = names.indexOf("desired");
  const restarts = names.indexOf("restarts");
  return (row, nowMs) => {
    const { metadata, cells } = row;
    const text = state < 0 ? "" : cellText(cells[state]);
    const age = (nowMs - Date.parse(metadata.creationTimestamp ?? "")) / 1000;
    if (metadata.deletionTimestamp) return terminating(row, nowMs, state, text);
    const counted = ready < 0 ? null : countsOf(cellText(cells[ready]), desired < 0 ? "" : cellText(cells[desired]));
    let level = state < 0 ? "neutral" : levelOf(text);
    if (counted && counted[0] < counted[1] && level !== "bad" && !/^completed?$/i.test(text)) level = "progress";
    else if (counted && level === "neutral") level = "good";
    const shown = state < 0 && counted ? ready : state;
    /** @type {Problem | null} */
    let problem = null;
    if (level === "bad") problem = { key: "problem.condition", values: { type: columns[state].name, status: text } };
    if (level === "progress" && age > PATIENCE_S) {
      problem = { key: "problem.pending", values: {}, at: metadata.creationTimestamp };
      level = "warn";
    }
    const count = restarts < 0 ? 0 : Number.parseInt(cellText(cells[restarts]), 10);
    if (!problem && count >= RESTARTS_MAX && isRecent(cellText(cells[restarts]))) {
      problem = { key: "problem.restarts", values: { count } };
      level = "warn";
    }
    if (!problem && isBehind(row, nowMs)) {
      problem = { key: "problem.behind", values: {}, at: row.changed?.at };
      level = "warn";
    }
    const word = state < 0 && counted ? counted.join("/") : text;
    return { level: /** @type {Level} */ (level), text: word, column: shown, problem };
  };
}

/**
 * Return how many are ready and desired: of `2/3`, or of two columns; null if the cells do not count.
 * @param {string} ready
 * @param {string} desired
 */
function countsOf(ready, desired) {
  const [, first, second] = /^(\d+)(?:\/(\d+))?$/.exec(ready) ?? [];
  const all = second ?? desired;
  return first === undefined || !/^\d+$/.test(all) ? null : [Number(first), Number(all)];
}

/**
 * Return the level of a word of a state.
 * @param {string} text
 * @returns {Level}
 */
export function levelOf(text) {
  const fraction = /^(\d+)\/(\d+)$/.exec(text);
  if (fraction) return Number(fraction[1]) >= Number(fraction[2]) ? "good" : "progress";
  if (GOOD.test(text)) return "good";
  if (PROGRESS.test(text)) return "progress";
  return BAD.test(text) ? "bad" : "neutral";
}

/**
 * @param {import("../table/store.js").Row} row
 * @param {number} nowMs
 * @param {number} column
 * @param {string} text
 * @returns {Health}
 */
function terminating({ metadata }, nowMs, column, text) {
  const late = (nowMs - Date.parse(metadata.deletionTimestamp ?? "")) / 1000 > 60;
  const finalizers = metadata.finalizers ?? [];
  const key = finalizers.length ? "problem.terminating" : "problem.terminating_plain";
  const problem = late ? { key, values: { finalizers: finalizers.join(", ") }, at: metadata.deletionTimestamp } : null;
  return { level: late ? "bad" : "progress", text: text || "Terminating", column, problem };
}

/**
 * Return whether a controller has not seen a change for a minute.
 * @param {import("../table/store.js").Row} row
 * @param {number} nowMs
 */
function isBehind({ behind, changed, metadata }, nowMs) {
  return Boolean(behind) && nowMs - Date.parse(changed?.at ?? metadata.creationTimestamp ?? "") > BEHIND_MS;
}

/**
 * Return whether a restart, `3 (5m ago)`, happened in the last hour.
 * @param {string} text
 */
function isRecent(text) {
  const ago = /\((.+) ago\)/.exec(text)?.[1] ?? "";
  return /^(\d+m)?(\d+s)?$/.test(ago) && ago !== "" && Number.parseInt(ago, 10) <= 60;
}
