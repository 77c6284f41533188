/** Actions of the list on the screen, which the keys of the page call. */
import { signal } from "@preact/signals";

/**
 * @typedef {{ next: () => void, previous: () => void, first: () => void, last: () => void, open: () => void, compare: () => void,
 *   mark: () => void, tab: (name: string) => void, edit: () => void }} RowActions
 */

/** @type {import("@preact/signals").Signal<RowActions | null>} */
export const rowActions = signal(null);
