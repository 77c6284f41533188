/** Whether the palette is open, and its text. */
import { signal } from "@preact/signals";

export const paletteOpen = signal(false);
/** Keys that are pressed before the palette is loaded are in it too. */
export const paletteText = signal("");
