/** `useOutside`: closes a menu after a click outside of it, or with Escape, and keeps its panel in the window. */
import { useEffect } from "preact/hooks";

/**
 * @param {{ current: HTMLElement | null }} root
 * @param {import("@preact/signals").Signal<boolean>} open
 */
export function useOutside(root, open) {
  useEffect(() => {
    if (!open.value) return undefined;
    keepInWindow(root.current?.querySelector(".popover"));
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

const MARGIN = 8;

/** @param {HTMLElement | null | undefined} panel */
function keepInWindow(panel) {
  if (!panel) return;
  const { left, right } = panel.getBoundingClientRect();
  const shift = Math.max(Math.min(0, document.documentElement.clientWidth - MARGIN - right), MARGIN - left);
  if (shift) panel.style.translate = `${shift}px`;
}
