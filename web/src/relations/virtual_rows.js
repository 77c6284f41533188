/** Rows of which only the visible ones are in the document. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

const OVERSCAN = 8;
const narrowScreen = matchMedia("(max-width: 640px)");

/**
 * Return the first and last index of the rows to draw, and what the scroller and the caller need.
 * @param {number} count
 * @param {{ wide: number, narrow: number, head: number }} heights in pixels; the style sheet has the same
 */
export function useVirtualRows(count, { wide, narrow, head }) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const top = useSignal(0);
  const height = useSignal(800);
  const isNarrow = useSignal(narrowScreen.matches);
  const row = isNarrow.value ? narrow : wide;
  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    const resized = new ResizeObserver(() => (height.value = element.clientHeight));
    resized.observe(element);
    const changed = () => (isNarrow.value = narrowScreen.matches);
    narrowScreen.addEventListener("change", changed);
    return () => {
      resized.disconnect();
      narrowScreen.removeEventListener("change", changed);
    };
  }, []);
  const first = Math.max(0, Math.floor(top.value / row) - OVERSCAN);
  const last = Math.min(count, Math.ceil((top.value + height.value) / row) + OVERSCAN);
  const reveal = (/** @type {number} */ index) => {
    const element = scroller.current;
    if (!element) return;
    const hidden = isNarrow.peek() ? 0 : head;
    if (index * row < element.scrollTop) element.scrollTop = index * row;
    else if ((index + 1) * row > element.scrollTop + element.clientHeight - hidden) element.scrollTop = (index + 1) * row - element.clientHeight + hidden;
  };
  const page = Math.max(1, Math.floor(height.value / row) - 2);
  return { scroller, first, last, row, page, reveal, onScroll: () => (top.value = scroller.current?.scrollTop ?? 0) };
}
