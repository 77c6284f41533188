/** Command palette: goes to a kind, an object or a namespace, or runs an action. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "../frame/dialog.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { loadNamespaceNames, namespaceNames } from "../lists/namespaces.js";
import { t } from "../texts/catalogue.js";
import { entriesFor, namesOf, scopeOf } from "./entries.js";
import { paletteOpen, paletteText as text } from "./open.js";
import { found, isSearched, search } from "./search.js";

export { paletteOpen };

const RECENT_MAX = 5;
/** Titles and actions of the last choices. @type {import("./entries.js").Entry[]} */
let recent = [];

export function Palette() {
  const chosen = useSignal(0);
  const names = useSignal(/** @type {{ kind: any, rows: any[] } | null} */ (null));
  const scopeKind = useComputed(() => scopeOf(text.value)?.kind ?? null);
  useSignalEffect(() => {
    const kind = scopeKind.value;
    names.value = null;
    if (!kind) return undefined;
    const stop = new AbortController();
    namesOf(kind, stop.signal).then((rows) => (names.value = { kind, rows }), () => {});
    return () => stop.abort();
  });
  useSignalEffect(() => {
    const wanted = text.value.trim().toLowerCase();
    return isSearched(wanted) && !scopeOf(wanted) ? search(wanted) : undefined;
  });
  useEffect(() => {
    if (namespaceNames.value?.length === 0) loadNamespaceNames().catch(() => {});
    return () => (text.value = "");
  }, []);
  const entries = useComputed(() => (text.value === "" ? [...recent.map((each) => ({ ...each, group: /** @type {const} */ ("recent") })), ...entriesFor("", null)] : entriesFor(text.value, names.value, found.value)));
  const close = () => (paletteOpen.value = false);
  const run = (/** @type {import("./entries.js").Entry | undefined} */ entry) => {
    if (!entry) return;
    recent = [entry, ...recent.filter((each) => each.id !== entry.id)].slice(0, RECENT_MAX);
    close();
    entry.run();
  };
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    const count = entries.value.length;
    if (event.key === "ArrowDown") chosen.value = Math.min(count - 1, chosen.value + 1);
    else if (event.key === "ArrowUp") chosen.value = Math.max(0, chosen.value - 1);
    else if (event.key === "Enter") run(entries.value[chosen.value]);
    else return;
    event.preventDefault();
  };
  return html`<${Dialog} label=${t("palette.label")} class="palette" onClose=${close}>
    <div class="palette-input"><${Icon} name="search" />
      <input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list" autocomplete="off" spellcheck=${false}
        aria-label=${t("palette.placeholder")} placeholder=${t("palette.placeholder")} autofocus value=${text.value}
        aria-activedescendant=${entries.value.length ? `entry-${chosen.value}` : null}
        onInput=${(/** @type {any} */ event) => ((text.value = event.target.value), (chosen.value = 0))} onKeyDown=${keyed} />
    </div>
    <${Entries} entries=${entries.value} chosen=${chosen.value} onRun=${run} />
    <p class="palette-hint">${entries.value.length === 0 ? t(scopeKind.value && names.value === null ? "app.loading" : "palette.none") : t("palette.hint")}</p>
  <//>`;
}

/** @param {{ entries: import("./entries.js").Entry[], chosen: number, onRun: (entry: import("./entries.js").Entry) => void }} props */
function Entries({ entries, chosen, onRun }) {
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  return html`<ul id="palette-list" role="listbox" ref=${list} aria-label=${t("palette.label")}>
    ${entries.map((entry, i) => html`<li key=${entry.group + entry.id} id=${`entry-${i}`} role="option" aria-selected=${i === chosen} class=${i === chosen ? "active" : ""}
      onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()} onClick=${() => onRun(entry)}>
      <span class="entry-title ellipsis" translate=${!entry.data}>${entry.title}</span>
      <span class="entry-detail ellipsis" translate=${false}>${entry.detail}</span>
      <span class="entry-group">${t(`palette.${entry.group}`)}</span>
      ${entry.key && html`<kbd translate=${false}>${entry.key}</kbd>`}
    </li>`)}
  </ul>`;
}
