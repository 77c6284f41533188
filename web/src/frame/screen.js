/** What is on the screen, for the palette, the keys and the title of the window. */
import { signal } from "@preact/signals";

/**
 * @typedef {{ title: string, kind?: import("../discovery/kinds.js").Kind, command: string,
 *   rows?: import("@preact/signals").ReadonlySignal<import("../table/store.js").Row[]> }} Screen
 */

/** @type {import("@preact/signals").Signal<Screen>} */
export const screen = signal({ title: "", command: "" });
