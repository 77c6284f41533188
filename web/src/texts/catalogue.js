/** Texts of the page in the language of the user. `t` returns one; it is a signal, so a switch redraws what uses it. */
import { computed, signal } from "@preact/signals";
import en from "./en.js";

/**
 * @typedef {string | { one?: string, other: string }} Text
 * @typedef {Record<string, Text>} Catalogue
 */

/** Languages by tag; a new one is loaded when it is chosen. `qps` marks every text, to find those outside. */
export const LANGUAGES = {
  en: "English",
  "zh-CN": "简体中文",
};

/** @type {Record<string, () => Promise<Catalogue>>} */
const LOADERS = {
  "zh-CN": async () => (await import("./zh_cn.js")).default,
  qps: async () => (await import("./pseudo.js")).pseudo(en),
};

export const language = signal("en");
/** @type {import("@preact/signals").Signal<Catalogue>} */
const catalogue = signal(en);
const plurals = computed(() => new Intl.PluralRules(tag()));
export const numberFormat = computed(() => new Intl.NumberFormat(tag()));
const instants = computed(() => new Intl.DateTimeFormat(tag(), { dateStyle: "medium", timeStyle: "long" }));
const clockTimes = computed(() => new Intl.DateTimeFormat(tag(), { timeStyle: "medium" }));

function tag() {
  const name = language.value === "qps" ? "en" : language.value;
  // The region of the user decides between 6:30 PM and 18:30.
  return navigator.languages.find((each) => each === name || each.startsWith(`${name}-`)) ?? name;
}

/** Return the format of instants in local time. */
export function instantFormat() {
  return instants.value;
}

/** Return the format of the time of a day. */
export function clockFormat() {
  return clockTimes.value;
}

/**
 * Return a text, with `{name}` replaced. `count` selects the plural.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = catalogue.value[key] ?? en[key];
  if (text === undefined) return key;
  const pattern = typeof text === "string" ? text : pluralOf(text, Number(values.count));
  return pattern.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? numberFormat.value.format(value) : String(value ?? "");
  });
}

/**
 * @param {{ one?: string, other: string }} text
 * @param {number} count
 */
function pluralOf(text, count) {
  return plurals.value.select(count) === "one" ? (text.one ?? text.other) : text.other;
}

/**
 * Return the language of the last visit, or the best one that the browser prefers.
 * @param {readonly string[]} preferred
 */
export function initialLanguage(preferred) {
  const chosen = document.documentElement.lang;
  const stored = readStored();
  if (stored && (stored in LANGUAGES || stored in LOADERS)) return stored;
  for (const each of preferred) {
    if (each.startsWith("zh")) return "zh-CN";
    if (each.startsWith("en")) return "en";
  }
  return chosen in LANGUAGES ? chosen : "en";
}

function readStored() {
  try {
    return localStorage.getItem("sampan-language");
  } catch {
    return null;
  }
}

/**
 * Switch to a language.
 * @param {string} name
 * @param {{ keep?: boolean }} [options] keep: also for the next visit
 */
export async function useLanguage(name, { keep = false } = {}) {
  const loaded = name in LOADERS ? await LOADERS[name]() : en;
  catalogue.value = loaded;
  language.value = name;
  document.documentElement.lang = name === "qps" ? "en" : name;
  if (keep) localStorage.setItem("sampan-language", name);
}
