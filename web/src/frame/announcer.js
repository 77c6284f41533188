/** Live region that announces a result, at most every two seconds. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { html } from "./html.js";

const INTERVAL_MS = 2000;

/** @param {{ text: import("@preact/signals").ReadonlySignal<string> }} props */
export function Announcer({ text }) {
  const shown = useSignal("");
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  useSignalEffect(() => {
    const next = text.value;
    if (next === shown.peek() || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      shown.value = text.peek();
    }, INTERVAL_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return html`<div class="visually-hidden" role="status" aria-live="polite">${shown.value}</div>`;
}
