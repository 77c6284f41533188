/** The one timer of the page. What depends on the time reads `now`. */
import { signal } from "@preact/signals";

const TICK_MS = 1000;

/** Present time in milliseconds. */
export const now = signal(Date.now());

/** Start the timer. It rests while nobody can see the page. */
export function startClock() {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, TICK_MS);
  document.addEventListener("visibilitychange", () => {
    now.value = Date.now();
  });
}
