/** `useOutside`: closes a menu after a click outside of it, or with Escape. */
import { useEffect } from "preact/hooks";

/**
 * @param {{ current: HTMLElement | null }} root
 * @param {import("@preact/signals").Signal<boolean>} open
 */
export function useOutside(root, open) {
  useEffect(() => {
    if (!open.value) return undefined;
    const pressed = (/** @type {Event} */ event) => {
      if (!root.current?.contains(/** @type {Node} */ (event.target))) open.value = false;
    };
    const keyed = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape" || !open.peek()) return;
      event.stopPropagation();
      open.value = false;
      /** @type {HTMLElement | null} */ (root.current?.querySelector("[aria-expanded]"))?.focus();
    };
    const inside = root.current;
    document.addEventListener("pointerdown", pressed);
    inside?.addEventListener("keydown", keyed);
    return () => {
      document.removeEventListener("pointerdown", pressed);
      inside?.removeEventListener("keydown", keyed);
    };
  }, [open.value]);
}
