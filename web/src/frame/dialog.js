/** A modal dialog. The browser keeps the focus inside; it returns to where it was. */
import { useEffect, useRef } from "preact/hooks";
import { html } from "./html.js";

/** @param {{ label: string, class?: string, onClose: () => void, children?: any }} props */
export function Dialog({ label, class: extra = "", onClose, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    element.current?.showModal();
    return () => before?.focus?.({ preventScroll: true });
  }, []);
  const pressed = (/** @type {MouseEvent} */ event) => event.target === element.current && onClose();
  return html`<dialog ref=${element} class=${`dialog ${extra}`} aria-label=${label} onClose=${onClose} onMouseDown=${pressed}>
    <div class="dialog-inner">${children}</div>
  </dialog>`;
}
