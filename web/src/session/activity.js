/** Whether somebody uses the page. Requests of an unused page do not keep the session alive. */

/** Time in milliseconds after the last key or click until the page counts as unused. */
const UNUSED_MS = 60_000;
let last = Date.now();

/** Listen to keys, the pointer and the wheel. */
export function startActivity() {
  const used = () => {
    last = Date.now();
  };
  for (const type of ["keydown", "pointerdown", "wheel"]) addEventListener(type, used, { capture: true, passive: true });
}

export function isUnused() {
  return Date.now() - last > UNUSED_MS;
}
