/** Whether the palette is open. */
import { signal } from "@preact/signals";

export const paletteOpen = signal(false);
