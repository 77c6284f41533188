/** The one timer of the page. What depends on the time reads `now`. */
import { effect, signal } from "@preact/signals";

const TICK_MS = 1000;
const SLOW_MS = 5000;

/** Present time in milliseconds. */
export const present = signal(Date.now());
/** Time that the page shows instead of the present; NaN: the present. */
export const shownTime = signal(NaN);
/** Time for ages, in milliseconds: the present, unless the page shows the past. */
export const now = signal(Date.now());
/** The same, for what need not change each second: a page at rest leaves the processor alone. */
export const slowNow = signal(Date.now());

/** Start the timer. It rests while nobody can see the page. */
export function startClock() {
  setInterval(() => {
    if (!document.hidden) present.value = Date.now();
  }, TICK_MS);
  document.addEventListener("visibilitychange", () => {
    present.value = Date.now();
  });
  effect(() => {
    now.value = Number.isNaN(shownTime.value) ? present.value : shownTime.value;
    if (Math.abs(now.value - slowNow.peek()) >= SLOW_MS) slowNow.value = now.value;
  });
}
