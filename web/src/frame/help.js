/** Help about keys, where they can be changed. */
import { useSignal } from "@preact/signals";
import { language, t } from "../texts/catalogue.js";
import { Dialog } from "./dialog.js";
import { helpOpen } from "./help_open.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { DEFAULT_KEYS, keys, setKey } from "./keys.js";

export { helpOpen };

export function Help() {
  const changing = useSignal("");
  const close = () => (helpOpen.value = false);
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    if (!changing.value || ["Shift", "Control", "Alt", "Meta", "Tab"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key !== "Escape") setKey(changing.value, event.key);
    changing.value = "";
  };
  return html`<${Dialog} label=${t("keys.title")} class="help" onClose=${close}>
    <div class="dialog-head"><h2>${t("keys.title")}</h2>
      <button type="button" class="icon-button" aria-label=${t("app.close")} onClick=${close}><${Icon} name="close" /></button></div>
    <dl class="keys" onKeyDown=${keyed}>
      ${Object.keys(DEFAULT_KEYS).map((name) => html`<div key=${name}><dt>${t(`keys.${name}`)}</dt><dd>
        <button type="button" class="key" aria-label=${t("keys.change", { action: t(`keys.${name}`) })} onClick=${() => (changing.value = name)}>
          ${changing.value === name ? t("keys.press") : html`<kbd translate=${false}>${keys.value[name]}</kbd>`}</button>
        ${name === "palette" && html`<kbd translate=${false}>Ctrl K</kbd>`}${name === "open" && html`<kbd translate=${false}>Enter</kbd>`}</dd></div>`)}
      <div><dt>${t("keys.back")}</dt><dd><kbd translate=${false}>Esc</kbd></dd></div>
    </dl>
    <div class="dialog-foot">
      <button type="button" class="button quiet" onClick=${() => setKey()}>${t("keys.reset")}</button>
      <a href=${`/dashboard/docs/${language.value === "zh-CN" ? "zh-CN/" : ""}`} target="_blank" rel="noopener">${t("help.documentation")}</a>
    </div>
  <//>`;
}
