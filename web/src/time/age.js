/** Ages as kubectl prints them, and instants in full. */
import { computed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { html } from "../frame/html.js";
import { instantFormat, t } from "../texts/catalogue.js";
import { now, slowNow } from "./clock.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/**
 * Return a duration as kubectl prints it: `45s`, `5m30s`, `3h`, `12d`, `2y10d`.
 *
 * Source: apimachinery pkg/util/duration/duration.go (1.36).
 * @param {number} seconds
 */
export function humanDuration(seconds) {
  const s = Math.floor(seconds);
  if (s < 0) return "0s";
  if (s < 2 * MINUTE) return `${s}s`;
  if (s < 10 * MINUTE) return joined(Math.floor(s / MINUTE), "m", s % MINUTE, "s");
  if (s < 3 * HOUR) return `${Math.floor(s / MINUTE)}m`;
  if (s < 8 * HOUR) return joined(Math.floor(s / HOUR), "h", Math.floor((s % HOUR) / MINUTE), "m");
  if (s < 2 * DAY) return `${Math.floor(s / HOUR)}h`;
  if (s < 8 * DAY) return joined(Math.floor(s / DAY), "d", Math.floor((s % DAY) / HOUR), "h");
  if (s < 2 * YEAR) return `${Math.floor(s / DAY)}d`;
  if (s < 8 * YEAR) return joined(Math.floor(s / YEAR), "y", Math.floor((s % YEAR) / DAY), "d");
  return `${Math.floor(s / YEAR)}y`;
}

/**
 * @param {number} large
 * @param {string} largeUnit
 * @param {number} small
 * @param {string} smallUnit
 */
function joined(large, largeUnit, small, smallUnit) {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/**
 * Return an instant in local time and in UTC.
 * @param {number} ms
 */
export function fullInstant(ms) {
  if (Number.isNaN(ms)) return "";
  return `${instantFormat().format(ms)} · ${new Date(ms).toISOString().replace(/\.\d+Z$/, "Z")}`;
}

/**
 * Age of an instant. It is drawn again only when its text changes; after two minutes, every five seconds at most.
 * @param {{ at: string | undefined | null }} props
 */
export function Age({ at }) {
  const ms = at ? Date.parse(at) : NaN;
  const text = useMemo(() => computed(() => textAt(ms)), [ms]);
  if (Number.isNaN(ms)) return html`<span class="none">${t("time.never")}</span>`;
  return html`<time datetime=${at} title=${fullInstant(ms)} translate=${false}>${text}</time>`;
}

/** @param {number} ms */
function textAt(ms) {
  if (Number.isNaN(ms)) return "";
  // Only read to be computed again when it changes.
  (now.peek() - ms < 2 * MINUTE * 1000 ? now : slowNow).value;
  return humanDuration((now.peek() - ms) / 1000);
}
