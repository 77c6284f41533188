/** Keys of a tree, as the ARIA practices describe them. */
import { openLines } from "./tree.js";

/** Time in milliseconds between letters of one name. */
const TYPING_MS = 800;

/** @typedef {import("./tree.js").Line} Line */

/**
 * Return what a key does: the index to go to, lines to open or to close; null: nothing.
 * @param {string} key
 * @param {Line[]} lines open ones
 * @param {number} index of the active line
 * @param {{ page: number, closed: ReadonlySet<string>, typed: { text: string, at: number }, nowMs: number }} state
 * @returns {{ to?: number, open?: Line[], close?: Line[] } | null}
 */
export function moved(key, lines, index, { page, closed, typed, nowMs }) {
  const last = lines.length - 1;
  const line = lines[index];
  if (!line) return null;
  const to = (/** @type {number} */ next) => ({ to: Math.max(0, Math.min(last, next)) });
  const isOpen = line.children.length > 0 && !closed.has(line.key);
  switch (key) {
    case "ArrowDown":
      return to(index + 1);
    case "ArrowUp":
      return to(index - 1);
    case "PageDown":
      return to(index + page);
    case "PageUp":
      return to(index - page);
    case "Home":
      return to(0);
    case "End":
      return to(last);
    case "ArrowRight":
      if (isOpen) return to(index + 1);
      return line.children.length ? { open: [line] } : {};
    case "ArrowLeft":
      if (isOpen) return { close: [line] };
      return line.parent ? to(lines.findIndex((each) => each.key === line.parent?.key)) : {};
    case "*":
      return { open: openLines(line.parent ? line.parent.children : lines.filter((each) => each.depth === 0), new Set()) };
  }
  return /^[\p{L}\p{N}.-]$/u.test(key) ? search(key, lines, index, typed, nowMs) : null;
}

/** @param {string} key @param {Line[]} lines @param {number} index @param {{ text: string, at: number }} typed @param {number} nowMs */
function search(key, lines, index, typed, nowMs) {
  const continued = nowMs - typed.at < TYPING_MS;
  typed.text = (continued ? typed.text : "") + key.toLowerCase();
  typed.at = nowMs;
  const start = typed.text.length > 1 ? index : index + 1;
  for (let i = 0; i < lines.length; i++) {
    const at = (start + i) % lines.length;
    const { name, kindName } = lines[at].node;
    if (name.toLowerCase().startsWith(typed.text) || kindName.toLowerCase().startsWith(typed.text)) return { to: at };
  }
  return {};
}
