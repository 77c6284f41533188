/** Choice of namespaces: one, several or all that the user may see. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { useOutside } from "../frame/outside.js";
import { query, setQuery } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { chosenNamespaces, loadNamespaceNames, namespaceNames } from "./namespaces.js";

export function NamespacePicker() {
  const open = useSignal(false);
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useOutside(root, open);
  const chosen = chosenNamespaces(query.value);
  const title = chosen.length === 0 ? t("namespace.all") : chosen.length === 1 ? chosen[0] : t("namespace.some", { count: chosen.length });
  return html`<div class="picker" ref=${root}>
    <button type="button" class="select" aria-haspopup="dialog" aria-expanded=${open.value} onClick=${() => (open.value = !open.value)}>
      <span class="visually-hidden">${t("namespace.label")}:</span>
      <span class="ellipsis" translate=${chosen.length !== 1}>${title}</span><${Icon} name="down" />
    </button>
    ${open.value && html`<${Choices} chosen=${chosen} onClose=${() => (open.value = false)} />`}
  </div>`;
}

/** @param {{ chosen: string[], onClose: () => void }} props */
function Choices({ chosen, onClose }) {
  const search = useSignal("");
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    input.current?.focus();
    loadNamespaceNames().catch(() => {});
  }, []);
  const names = namespaceNames.value;
  const offered = (names ?? chosen).filter((name) => name.includes(search.value));
  const choose = (/** @type {string[]} */ next) => setQuery({ ns: next.join(",") });
  const toggle = (/** @type {string} */ name) => choose(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.target !== input.current) return;
    if (names === null && search.value) toggle(search.value);
    else if (offered.length) choose([offered[0]]);
    onClose();
  };
  return html`<div class="popover choices" role="dialog" aria-label=${t("namespace.label")} onKeyDown=${keyed}>
    <input ref=${input} type="search" aria-label=${t("namespace.search")} placeholder=${t("namespace.search")} value=${search.value}
      onInput=${(/** @type {any} */ event) => (search.value = event.target.value.trim())} />
    ${names === null && html`<p class="hint">${t("namespace.type")}</p>`}
    <div class="choice-list" role="group" aria-label=${t("namespace.label")}>
      ${search.value === "" && html`<label class="choice"><input type="checkbox" checked=${chosen.length === 0} onChange=${() => choose([])} />
        <span>${t("namespace.all")}</span></label>`}
      ${offered.map((name) => html`<label class="choice" key=${name}>
        <input type="checkbox" checked=${chosen.includes(name)} onChange=${() => toggle(name)} /><span translate=${false}>${name}</span></label>`)}
      ${offered.length === 0 && names !== null && search.value && html`<p class="hint">${t("namespace.none")}</p>`}
    </div>
  </div>`;
}
