/** A line of a log: its time as a text that can be compared, and what it says about itself. */
import { plainText } from "./ansi.js";

/**
 * @typedef {object} Source Container of a Pod.
 * @property {string} id
 * @property {string} pod
 * @property {string} container
 * @property {number} colour
 * @property {string} label shortest text that tells it from the others
 * @property {"connecting" | "waiting" | "live" | "ended" | "gone" | "refused"} state
 * @property {string} problem why there is no log; empty if there is one
 * @property {number} code status of that problem; 0: there is none
 *
 * @typedef {object} Line
 * @property {number} id
 * @property {string} key time in UTC with nine digits of the second
 * @property {Source} source
 * @property {string} text without the time; for an event of a Pod its name: `joined`, `gone`, `ended`, `restarted`
 * @property {boolean} cut the line was longer
 * @property {boolean} event a note of the page, no line of a log
 * @property {boolean} dropped no longer in the ring
 * @property {number} level index in `LEVELS`; -1: unknown
 * @property {number} columns width of the text; -1: not measured
 */

let next = 1;

/** Levels by severity. */
export const LEVELS = ["trace", "debug", "info", "warn", "error"];
/** Characters in which a level is searched. */
const HEAD = 400;
const JSON_LEVEL = /"(?:level|severity|lvl|levelname|log\.level)"\s*:\s*(?:"(\w+)"|(\d+))/i;
const KEY_LEVEL = /(?:^|[\s,{])(?:level|lvl|severity)=["']?(\w+)/i;
const KLOG = /^([IWEF])\d{4} \d\d:\d\d:\d\d/;
const WORD = /(?:^|[\s[(|<:])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERR|ERROR|CRITICAL|FATAL|PANIC|SEVERE|trace|debug|info|warn|warning|error|fatal|panic|critical)(?=[\s\])|>:,]|$)/;
/** @type {Record<string, number>} */
const NAMES = { t: 0, trc: 0, trace: 0, d: 1, dbg: 1, debug: 1, i: 2, inf: 2, info: 2, information: 2, notice: 2, w: 3, wrn: 3, warn: 3, warning: 3,
  e: 4, err: 4, error: 4, eror: 4, f: 4, fatal: 4, critical: 4, crit: 4, panic: 4, severe: 4, alert: 4, emerg: 4 };

/**
 * Return the line of a text that begins with its time.
 * @param {import("../transport/text_lines.js").TextLine} given
 * @param {Source} source
 * @param {string} before key of the line before, for a text without a time
 * @returns {Line}
 */
export function lineOf(given, source, before) {
  const cut = typeof given !== "string";
  const raw = cut ? given.cut : given;
  const end = raw.indexOf(" ");
  const stamp = end < 0 ? raw : raw.slice(0, end);
  const timed = stamp.length >= 20 && stamp.length <= 35 && stamp[4] === "-" && stamp[10] === "T";
  const key = timed ? keyOf(stamp) : before || keyOf(new Date().toISOString());
  const text = !timed ? raw : end < 0 ? "" : raw.slice(end + 1);
  return { id: next++, key, source, text, cut, event: false, dropped: false, level: levelOf(text), columns: -1 };
}

/**
 * Return a note about a Pod.
 * @param {Source} source
 * @param {string} name
 * @param {string} key
 * @returns {Line}
 */
export function eventOf(source, name, key) {
  return { id: next++, key, source, text: name, cut: false, event: true, dropped: false, level: -1, columns: 0 };
}

/**
 * Return a time as a text of which the order is that of the times.
 * @param {string} stamp RFC 3339
 */
export function keyOf(stamp) {
  const zone = /(?:Z|[+-]\d\d:\d\d)$/.exec(stamp)?.[0] ?? "Z";
  const fraction = stamp[19] === "." ? stamp.slice(20, stamp.length - zone.length) : "";
  let second = stamp.slice(0, 19);
  if (zone !== "Z") {
    const at = Date.parse(second + zone);
    if (!Number.isNaN(at)) second = new Date(at).toISOString().slice(0, 19);
  }
  return `${second}.${fraction.padEnd(9, "0").slice(0, 9)}`;
}

/** Return the key of this moment. */
export function keyNow() {
  return keyOf(new Date().toISOString());
}

/**
 * Return the level of a text as an index of `LEVELS`; -1 if it has none.
 * @param {string} text
 */
export function levelOf(text) {
  const head = plainText(text.length > HEAD ? text.slice(0, HEAD) : text);
  const klog = KLOG.exec(head);
  if (klog) return NAMES[klog[1].toLowerCase()];
  const json = head.startsWith("{") ? JSON_LEVEL.exec(head) : null;
  if (json?.[2]) return Math.max(0, Math.min(4, Math.floor(Number(json[2]) / 10) - 1));
  const name = json?.[1] ?? KEY_LEVEL.exec(head)?.[1] ?? WORD.exec(head.slice(0, 120))?.[1];
  return name ? (NAMES[name.toLowerCase()] ?? -1) : -1;
}

/** Members of an object that are shown, at most. */
const ROWS_MAX = 200;

/**
 * Return the rows of a line that holds an object of JSON; null for other lines.
 * @param {Line} line
 * @returns {string[] | null}
 */
export function unfolded(line) {
  if (line.event || line.cut) return null;
  const text = plainText(line.text).trim();
  if (!text.startsWith("{") || !text.endsWith("}")) return null;
  try {
    const rows = JSON.stringify(JSON.parse(text), null, 2).split("\n");
    return rows.length > ROWS_MAX ? [...rows.slice(0, ROWS_MAX), "…"] : rows;
  } catch {
    return null;
  }
}
