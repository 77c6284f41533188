/** Head of a list: its title and count, the filter with its chips, and what the list shows. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { MarksBar } from "../bulk/marks_bar.js";
import { CopyButton } from "../frame/copy.js";
import { useFilterText } from "../frame/filter_text.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { useOutside } from "../frame/outside.js";
import { pluralTitle } from "../discovery/kinds.js";
import { withoutTerm } from "../filter/parse.js";
import { listCommand } from "../kubectl/commands.js";
import { momentText } from "../past/moment.js";
import { ActionButton } from "../rights/action_button.js";
import { go, query, setQuery } from "../routes/location.js";
import { createAddress, deletedAddress, kindAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { ExportMenu } from "./export_menu.js";
import { NamespacePicker } from "./namespace_picker.js";

/**
 * @param {{ kind: import("../discovery/kinds.js").Kind, view: import("./view.js").ListView,
 *   source: import("./source.js").ListSource, terms: import("../filter/parse.js").Term[], unknown: string[],
 *   marks: import("../bulk/marks.js").Marks }} props
 */
export function Toolbar({ kind, view, source, terms, unknown, marks }) {
  const hasWide = view.store.columns.value.some((column) => (column.priority ?? 0) > 0);
  const problems = query.value.get("problems") === "1";
  const wide = query.value.get("wide") === "1";
  return html`<header class="toolbar">
    <div class="title-line">
      <h1 id="page-title" translate=${false}>${pluralTitle(kind)}</h1>
      <${Count} view=${view} />
      <div class="title-actions">
        ${kind.verbs.includes("create") && !momentText.value && html`<${ActionButton} action=${{ kind, namespace: (query.value.get("ns") ?? "").split(",")[0], name: "", verb: "create" }} icon="plus"
          onPress=${() => go(createAddress(kind, { ns: query.peek().get("ns") ?? "" }))}>${t("create.title")}<//>`}
        <a class="button quiet copy-button" href=${deletedAddress(kind, { ns: query.value.get("ns") ?? "" })} title=${t("deleted.link")}><${Icon} name="history" /><span class="copy-label">${t("deleted.link")}</span></a>
        <a class="icon-button" href=${kindAddress(kind)} aria-label=${t("kind.describe")} title=${t("kind.describe")}><${Icon} name="book" /></a>
        ${!momentText.value && html`<${CopyButton} text=${() => listCommand(kind, query.value, source.allowed.peek())} label=${t("list.copy")} action="copy" />`}
        <${ExportMenu} kind=${kind} view=${view} source=${source} marks=${marks} />
      </div>
    </div>
    <div class="filter-line">
      ${kind.namespaced && html`<${NamespacePicker} />`}
      <${FilterBox} />
      <button type="button" class="toggle" aria-pressed=${problems} title=${t("list.problems_hint")}
        onClick=${() => setQuery({ problems: problems ? "" : "1" })}>
        <${Icon} name="warn" />${t("list.problems")}
        ${view.problemCount.value > 0 && html`<span class="badge" translate=${false}>${view.problemCount.value}</span>`}
      </button>
      ${hasWide && html`<button type="button" class="toggle wide-toggle" aria-pressed=${wide} onClick=${() => setQuery({ wide: wide ? "" : "1" })}>
        <${Icon} name="columns" />${t("list.wide")}
      </button>`}
      ${!momentText.value && html`<button type="button" class="toggle" aria-pressed=${marks.shown.value} title=${t("bulk.select_hint")} onClick=${() => (marks.shown.value ? marks.clear() : (marks.shown.value = true))}>
        <${Icon} name="check" />${t("bulk.select")}</button>`}
    </div>
    ${marks.shown.value && !momentText.value && html`<${MarksBar} kind=${kind} marks=${marks} view=${view} />`}
    <${Chips} terms=${terms} unknown=${unknown} />
    ${query.value.get("compare") && html`<p class="hint" role="status">${t("compare.choose_row", { name: query.value.get("compare") ?? "" })}
      <button type="button" class="icon-button small" aria-label=${t("compare.stop")} title=${t("compare.stop")} onClick=${() => setQuery({ compare: "" })}><${Icon} name="close" /></button></p>`}
    ${view.stoppedAfter.value > 0 && html`<p class="hint warn" role="status">${t("filter.error.time", { count: view.stoppedAfter.value })}</p>`}
    ${source.allowed.value?.incomplete && html`<p class="hint warn" role="status">${t("namespace.incomplete")}</p>`}
  </header>`;
}

/** @param {{ view: import("./view.js").ListView }} props */
function Count({ view }) {
  const shown = view.rows.value.length;
  const total = view.total.value;
  const left = view.store.left.value;
  if (left > 0) return html`<span class="count">${t("list.loading_more", { count: total, left })}</span>`;
  return html`<span class="count">${shown === total ? t("list.count", { count: total }) : t("list.count_of", { count: shown, total })}</span>`;
}

function FilterBox() {
  const open = useSignal(false);
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useOutside(root, open);
  const field = useFilterText(query.value.get("q") ?? "");
  return html`<div class="filter-box" ref=${root}>
    <${Icon} name="filter" />
    <input ...${field} aria-label=${t("list.filter")} placeholder=${t("list.filter_placeholder")} />
    <button type="button" class="icon-button small" aria-expanded=${open.value} aria-label=${t("list.filter_help")}
      title=${t("list.filter_help")} onClick=${() => (open.value = !open.value)}><span aria-hidden="true">?</span></button>
    ${open.value && html`<${FilterHelp} />`}
  </div>`;
}

const FORMS = [
  ["web", "word"], ["app=web", "label"], ["spec.nodeName=n1", "field"], ["ns:prod", "namespace"],
  ["status:Running", "status"], ["age<1h", "age"], ["col:Ready!=True", "column"], ["/^web-\\d+$/", "regex"],
];

function FilterHelp() {
  return html`<div class="popover filter-help">
    <dl>${FORMS.map(([example, key]) => html`<dt key=${key}><code translate=${false}>${example}</code></dt><dd>${t(`filter.form.${key}`)}</dd>`)}</dl>
  </div>`;
}

/** @param {{ terms: import("../filter/parse.js").Term[], unknown: string[] }} props */
function Chips({ terms, unknown }) {
  if (terms.length === 0) return null;
  const remove = (/** @type {number} */ index) => setQuery({ q: withoutTerm(query.peek().get("q") ?? "", index) });
  return html`<ul class="chips" role="list">
    ${terms.map((term, i) => {
      const error = term.type === "error" ? t(`filter.error.${term.error}`, { text: term.source })
        : term.type === "column" && unknown.includes(term.column) ? t("filter.error.column", { text: term.column }) : "";
      return html`<li key=${i} class=${error ? "chip wrong" : `chip ${term.type}`}>
        <code translate=${false}>${term.source}</code>
        <button type="button" aria-label=${t("list.remove_chip", { text: term.source })} onClick=${() => remove(i)}><${Icon} name="close" /></button>
        ${error && html`<span class="chip-error" role="alert">${error}</span>`}
      </li>`;
    })}
  </ul>`;
}
