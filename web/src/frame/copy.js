/** Button that copies a text. */
import { useSignal } from "@preact/signals";
import { t } from "../texts/catalogue.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { report } from "./notices.js";

const SHOWN_MS = 1500;

/**
 * Copy a text. Return whether it worked.
 * @param {string} text
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    report({ title: t("copy.failed"), message: text, causes: [] });
    return false;
  }
}

/**
 * @param {{ text: () => string, label: string, iconOnly?: boolean, action?: string }} props
 * `action`: the name by which a key presses the button.
 */
export function CopyButton({ text, label, iconOnly = false, action = "" }) {
  const done = useSignal(false);
  const copy = async () => {
    done.value = await copyText(text());
    setTimeout(() => (done.value = false), SHOWN_MS);
  };
  return html`<button type="button" class=${iconOnly ? "icon-button small" : "button quiet copy-button"} data-action=${action || null} title=${label}
    aria-label=${iconOnly ? label : null} onClick=${copy}>
    <${Icon} name=${done.value ? "check" : "copy"} />
    ${!iconOnly && html`<span class="copy-label">${done.value ? t("copy.done") : label}</span>`}
    <span class="visually-hidden" role="status">${iconOnly && done.value ? t("copy.done") : ""}</span>
  </button>`;
}
