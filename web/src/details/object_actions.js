/** Actions of the object on the screen, which the keys of the page call. */
import { signal } from "@preact/signals";

/** @type {import("@preact/signals").Signal<{ tab: (name: string) => void, back: () => void, edit?: () => void } | null>} */
export const objectActions = signal(null);
