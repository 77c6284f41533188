/** Moment that the page shows: `at=TIME` or `at=REVISION` in the address. Without it the page is live. */
import { computed, signal } from "@preact/signals";
import { query } from "../routes/location.js";

/**
 * @typedef {{ text: string, revision: number, ms: number }} Moment
 * `revision`: 0 for a time. `ms`: NaN for a revision.
 */

/** Text of the moment in the address; empty: the present. */
export const momentText = computed(() => (parseMoment(query.value.get("at") ?? "") ? (query.value.get("at") ?? "") : ""));
/** @type {import("@preact/signals").ReadonlySignal<Moment | null>} */
export const moment = computed(() => parseMoment(momentText.value));

/**
 * What the page found for the moment. `ms`: time of the last change before it. `uncertain`: the history does not reach that far.
 * @type {import("@preact/signals").Signal<{ text: string, ms: number, revision: string, read: string, uncertain: boolean } | null>}
 */
export const found = signal(null);

/**
 * Return a moment; null if the text is none.
 * @param {string} text
 * @returns {Moment | null}
 */
export function parseMoment(text) {
  if (/^[1-9]\d{0,15}$/.test(text)) return { text, revision: Number(text), ms: NaN };
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? null : { text, revision: 0, ms };
}

/**
 * Return the text of a time for the address.
 * @param {number} ms
 */
export function momentOf(ms) {
  return new Date(Math.round(ms / 1000) * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Pages that can show the past. The others know the present only, or change objects. */
const PAST = new Set(["home", "login", "list", "object", "compare", "deleted"]);

/**
 * Return whether a page can show the past.
 * @param {string} route
 */
export function showsPast(route) {
  return PAST.has(route);
}
