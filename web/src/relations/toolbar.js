/** Head of the relations: which view, the filter, and how many objects it leaves. */
import { useFilterText } from "../frame/filter_text.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { setQuery } from "../routes/location.js";
import { t } from "../texts/catalogue.js";

/** @param {{ model: import("./model.js").RelationsModel, views: string[], view: string }} props */
export function Toolbar({ model, views, view }) {
  const problems = model.problemsOnly.value === "1";
  const all = model.wide.value === "1";
  const count = view === "tree" ? model.tree.value.reduce((sum, line) => sum + line.problems, 0) : model.problems.value;
  return html`<div class="relations-bar">
    <div class="view-choice" role="radiogroup" aria-label=${t("relations.view")}>
      ${views.map((each) => html`<label key=${each}><input type="radio" name="relations-view" checked=${each === view} onChange=${() => setQuery({ view: each === "tree" ? "" : each })} />
        <span>${t(`relations.view.${each}`)}</span></label>`)}
    </div>
    <${FilterBox} text=${model.text.value} />
    <button type="button" class="toggle" aria-pressed=${problems} onClick=${() => setQuery({ problems: problems ? "" : "1" })}>
      <${Icon} name="warn" /><span class="bar-text">${t("list.problems")}</span>${count > 0 && html`<span class="badge" translate=${false}>${count}</span>`}</button>
    ${view !== "tree" && !model.isNamespace && html`<button type="button" class="toggle" aria-pressed=${all} title=${t("relations.all_hint")} onClick=${() => setQuery({ all: all ? "" : "1" })}>
      <${Icon} name="globe" /><span class="bar-text">${t("relations.all")}</span></button>`}
    <div class="spacer" />
    <${Count} model=${model} view=${view} />
  </div>`;
}

/** @param {{ model: import("./model.js").RelationsModel, view: string }} props */
function Count({ model, view }) {
  if (view === "tree") return null;
  const edges = model.edges.value.length;
  const objects = model.shown.value.size;
  return html`<span class="count" role="status">${t("relations.objects", { count: objects })} · ${t("relations.count", { count: edges })}</span>`;
}

/** @param {{ text: string }} props */
function FilterBox({ text }) {
  const field = useFilterText(text);
  return html`<div class="filter-box"><${Icon} name="filter" /><input ...${field} aria-label=${t("relations.filter")}
    placeholder=${t("relations.filter_placeholder")} /></div>`;
}
