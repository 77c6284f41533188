/** Keys of the page, as in k9s where they do not fight the browser. They can be changed, and rest while one types. */
import { signal } from "@preact/signals";
import { objectActions } from "../details/object_actions.js";
import { rowActions } from "../lists/row_actions.js";
import { paletteOpen, paletteText } from "../palette/open.js";
import { helpOpen } from "./help_open.js";

const STORED = "sampan-keys";
/** Keys by action. @type {Record<string, string>} */
export const DEFAULT_KEYS = {
  palette: ":", help: "?", filter: "/", next: "j", previous: "k", first: "g", last: "G", open: "o",
  describe: "d", yaml: "y", events: "v", history: "h", copy: "c", edit: "e", compare: "=", logs: "l", terminal: "s", mark: "x",
};
export const keys = signal(storedKeys());

function storedKeys() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED) ?? "{}");
    return { ...DEFAULT_KEYS, ...Object.fromEntries(Object.keys(DEFAULT_KEYS).flatMap((name) => (typeof stored[name] === "string" ? [[name, stored[name]]] : []))) };
  } catch {
    return DEFAULT_KEYS;
  }
}

/**
 * Set the key of an action; without arguments all keys as they were at first.
 * @param {string} [action]
 * @param {string} [key]
 */
export function setKey(action, key) {
  if (!action || !key) {
    keys.value = DEFAULT_KEYS;
    localStorage.removeItem(STORED);
    return;
  }
  keys.value = { ...keys.value, [action]: key };
  localStorage.setItem(STORED, JSON.stringify(keys.value));
}

/** @type {Record<string, () => void>} */
const ACTIONS = {
  palette: () => (paletteOpen.value = true),
  help: () => (helpOpen.value = true),
  filter: () => document.getElementById("filter")?.focus(),
  next: () => rowActions.peek()?.next(),
  previous: () => rowActions.peek()?.previous(),
  first: () => rowActions.peek()?.first(),
  last: () => rowActions.peek()?.last(),
  open: () => rowActions.peek()?.open(),
  compare: () => rowActions.peek()?.compare(),
  mark: () => rowActions.peek()?.mark(),
  describe: () => tab("overview"),
  yaml: () => tab("yaml"),
  events: () => tab("events"),
  history: () => tab("history"),
  logs: () => tab("logs"),
  terminal: () => tab("terminal"),
  edit: () => (objectActions.peek() ?? rowActions.peek())?.edit?.(),
  copy: () => /** @type {HTMLElement | null} */ (document.querySelector('[data-action="copy"]'))?.click(),
};

/** Open a tab of the object on the screen, or of the chosen row. @param {string} name */
function tab(name) {
  (objectActions.peek() ?? rowActions.peek())?.tab(name);
}

/** Keys that always move in the list. @type {Record<string, string>} */
const ARROWS = { ArrowDown: "next", ArrowUp: "previous", Home: "first", End: "last", Enter: "open" };

/** Listen to keys of the whole page. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.defaultPrevented && event.key.toLowerCase() === "k") {
      event.preventDefault();
      paletteOpen.value = !paletteOpen.peek();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
    if (paletteOpen.peek() && event.key.length === 1) {
      event.preventDefault();
      paletteText.value += event.key;
    }
    if (paletteOpen.peek() || helpOpen.peek()) return;
    if (event.key === "Escape") {
      objectActions.peek()?.back();
      return;
    }
    // The list takes these keys by itself when it has the focus.
    const arrow = document.activeElement === document.body ? ARROWS[event.key] : undefined;
    const action = arrow ?? Object.keys(ACTIONS).find((name) => keys.peek()[name] === event.key);
    if (!action) return;
    event.preventDefault();
    ACTIONS[action]();
  });
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && (target.matches("input:not([type=radio], [type=checkbox]), textarea, select") || target.isContentEditable);
}
