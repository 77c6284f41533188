/** Actions of the list on the screen, which the keys of the page call. */
import { signal } from "@preact/signals";

/**
 * @typedef {{ next: () => void, previous: () => void, first: () => void, last: () => void, open: () => void,
 *   focus: () => void }} RowActions
 */

/** @type {import("@preact/signals").Signal<RowActions | null>} */
export const rowActions = signal(null);

/**
 * Give the focus to a new list, unless something else has it. Return what to do at its end.
 * @param {HTMLElement | null} element
 */
export function focusRows(element) {
  const focused = document.activeElement;
  if (!focused || focused === document.body || focused.closest("nav")) element?.focus({ preventScroll: true });
  return () => {
    rowActions.value = null;
  };
}
