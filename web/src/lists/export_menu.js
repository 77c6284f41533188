/** Menu that exports the marked rows of a list, or all that are shown. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { reportError } from "../frame/notices.js";
import { useOutside } from "../frame/outside.js";
import { save } from "../frame/save.js";
import { t } from "../texts/catalogue.js";

const TYPES = { csv: "text/csv", yaml: "application/yaml", json: "application/json" };

/**
 * @param {{ kind: import("../discovery/kinds.js").Kind, view: import("./view.js").ListView, source: import("./source.js").ListSource,
 *   marks: import("../bulk/marks.js").Marks }} props
 */
export function ExportMenu({ kind, view, source, marks }) {
  const open = useSignal(false);
  const busy = useSignal(false);
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useOutside(root, open);
  const run = async (/** @type {"csv" | "yaml" | "json"} */ format) => {
    open.value = false;
    busy.value = true;
    const marked = marks.rows.peek();
    const rows = marked.size ? view.rows.peek().filter((row) => marked.has(row.uid)) : view.rows.peek();
    try {
      const { csvOf, objectsOf } = await import("../frame/lazy_parts.js");
      const text = format === "csv" ? csvOf(rows, view.columns.peek()) : await objectsOf(kind, rows, source.selectors, format, source.stop.signal);
      save(new Blob([text], { type: `${TYPES[format]};charset=utf-8` }), kind.plural, format);
    } catch (error) {
      if (!source.stop.signal.aborted) reportError(error);
    }
    busy.value = false;
  };
  return html`<div class="picker" ref=${root}>
    <button type="button" class="icon-button" aria-label=${t("export.title")} title=${t("export.title")} aria-haspopup="dialog" aria-expanded=${open.value} disabled=${busy.value} onClick=${() => (open.value = !open.value)}><${Icon} name=${busy.value ? "progress" : "download"} /></button>
    ${open.value && html`<div class="popover actions" role="dialog" aria-label=${t("export.title")}><p class="hint">${marks.count.value ? t("export.marked", { count: marks.count.value }) : t("export.shown", { count: view.rows.value.length })}</p><ul role="list">
      ${Object.keys(TYPES).map((format) => html`<li key=${format}><button type="button" class="command-line" onClick=${() => run(/** @type {any} */ (format))}><${Icon} name="download" /><span translate=${false}>${format.toUpperCase()}</span></button></li>`)}
    </ul></div>`}
  </div>`;
}
