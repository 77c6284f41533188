/** What is chosen in the graph: an object with its relations and their reasons, or a path between two objects. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { NodeLabel, nodeAddress, stateText, titleOf } from "./node_label.js";
import { stepTexts } from "./path_text.js";

const SHOWN = 100;

/** @param {{ model: import("./model.js").RelationsModel, actions: { clear: () => void, path: (id: string) => void, focus: (id: string) => void } }} props */
export function NodePanel({ model, actions }) {
  const { graph, selected, from, to } = model;
  const node = graph.value.nodes.get(selected.value);
  const start = graph.value.nodes.get(from.value);
  if (!node && !start) return null;
  return html`<aside class="graph-panel" aria-label=${t("relations.panel")}>
    <button type="button" class="icon-button small panel-close" aria-label=${t("app.close")} onClick=${() => actions.clear()}><${Icon} name="close" /></button>
    ${start && html`<${Path} model=${model} start=${start} end=${graph.value.nodes.get(to.value)} />`}
    ${node && html`<${Chosen} model=${model} node=${node} actions=${actions} />`}
  </aside>`;
}

/** @param {{ model: import("./model.js").RelationsModel, start: import("./graph.js").Node, end: import("./graph.js").Node | undefined }} props */
function Path({ model, start, end }) {
  const steps = model.path.value?.steps;
  return html`<section><h2>${t("relations.path")}</h2>
    ${!end ? html`<p class="soft">${t("relations.path_from", { name: titleOf(start) })}</p>`
      : !steps ? html`<p class="hint warn"><${Icon} name="broken" />${t("relations.no_path", { from: titleOf(start), to: titleOf(end) })}</p>`
        : html`<ol class="path-steps" role="list"><li><${NodeLabel} node=${start} view="graph" /></li>${stepTexts(model).map(({ node, why }) => html`<li key=${node.id}>
          <span class="path-why" translate=${false}>${why}</span><${NodeLabel} node=${node} view="graph" /></li>`)}</ol>`}
  </section>`;
}

/** @param {{ model: import("./model.js").RelationsModel, node: import("./graph.js").Node, actions: { path: (id: string) => void, focus: (id: string) => void } }} props */
function Chosen({ model, node, actions }) {
  const { graph, from, to } = model;
  const href = nodeAddress(node, "graph");
  const second = from.value !== "" && to.value === "" && from.value !== node.id;
  const side = (/** @type {import("./graph.js").Edge[]} */ edges, /** @type {"from" | "to"} */ end, /** @type {string} */ title) =>
    edges.length > 0 && html`<section><h3>${title} <span class="count" translate=${false}>${edges.length}</span></h3><ul role="list">${edges.slice(0, SHOWN).map((edge) => html`<li key=${edge.id}>
      <${NodeLabel} node=${graph.value.nodes.get(edge[end])} view="graph" /><span class="why soft">${t(`relations.type.${edge.type}`)} <span translate=${false}>${visible(edge.why.join(", "))}</span></span></li>`)}
      ${edges.length > SHOWN && html`<li class="soft">${t("detail.and_more", { count: edges.length - SHOWN })}</li>`}</ul></section>`;
  return html`<section class="panel-head"><p class="soft" translate=${false}>${[node.kindName, node.namespace].filter(Boolean).join(" · ")}</p>
      <h2 translate=${false}>${visible(node.name)}</h2>
      ${stateText(node) && html`<p class=${`health ${node.level}`}><${Icon} name=${node.state === "missing" ? "broken" : node.level} />${stateText(node)}</p>`}
      <div class="panel-actions">${href && html`<a class="button small-button" href=${href}>${t("relations.open")}</a>`}
        <button type="button" class="button small-button" onClick=${() => actions.path(node.id)}>${t(second ? "relations.path_to" : "relations.path_begin")}</button></div></section>
    ${side(graph.value.into.get(node.id) ?? [], "from", t("relations.into"))}
    ${side(graph.value.out.get(node.id) ?? [], "to", t("relations.out"))}`;
}
