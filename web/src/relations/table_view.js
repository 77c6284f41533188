/** All relations as a table, equal to the graph: from, relation, why, to, health. Only the visible rows are in the document. */
import { useComputed } from "@preact/signals";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty } from "../frame/states.js";
import { query, setQuery } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { rank } from "./levels.js";
import { NodeLabel, stateText, titleOf } from "./node_label.js";
import { useVirtualRows } from "./virtual_rows.js";

const HEIGHTS = { wide: 34, narrow: 84, head: 34 };
const COLUMNS = ["from", "relation", "why", "to", "health"];

/** @typedef {{ edge: import("./graph.js").Edge, from: import("./graph.js").Node, to: import("./graph.js").Node, worse: import("./graph.js").Node }} Relation */

/** @param {{ model: import("./model.js").RelationsModel }} props */
export function TableView({ model }) {
  const sort = query.value.get("sort") ?? "";
  const relations = useComputed(() => sorted(relationsOf(model), query.value.get("sort") ?? ""));
  const rows = relations.value;
  const { scroller, first, last, row, onScroll } = useVirtualRows(rows.length, HEIGHTS);
  const order = (/** @type {string} */ column) => setQuery({ sort: sort === column ? `-${column}` : sort === `-${column}` ? "" : column });
  const direction = (/** @type {string} */ column) => (sort === column ? "ascending" : sort === `-${column}` ? "descending" : "none");
  return html`<div class="relation-table" ref=${scroller} onScroll=${onScroll} tabindex="0" role="region" aria-label=${t("relations.table_label")}>
    ${rows.length === 0 && html`<${Empty} icon="link" title=${t("relations.none")} hint=${t("relations.none_hint")} />`}
    <div role="table" aria-label=${t("relations.table_label")} aria-rowcount=${rows.length + 1} hidden=${rows.length === 0}>
      <div role="rowgroup" class="relation-head"><div role="row" class="relation-row" aria-rowindex="1">
        ${COLUMNS.map((each) => html`<div role="columnheader" key=${each} class="cell" aria-sort=${direction(each)}><button type="button" class="sort"
          aria-label=${t("list.sort", { column: t(`relations.column.${each}`) })} onClick=${() => order(each)}><span>${t(`relations.column.${each}`)}</span>
          ${direction(each) !== "none" && html`<${Icon} name=${direction(each) === "ascending" ? "up" : "down"} />`}</button></div>`)}
      </div></div>
      <div role="rowgroup" class="relation-body" style=${{ "--rows-height": `${rows.length * row}px` }}>
        ${rows.slice(first, last).map(({ edge, from, to, worse }, i) => html`<div role="row" class="relation-row" key=${edge.id} aria-rowindex=${first + i + 2} style=${{ transform: `translateY(${(first + i) * row}px)` }}>
          <div role="cell" class="cell"><${NodeLabel} node=${from} view="table" /></div>
          <div role="cell" class="cell">${t(`relations.type.${edge.type}`)}</div>
          <div role="cell" class="cell why" translate=${false} title=${edge.why.join("\n")}><span class="ellipsis">${edge.why.join(", ")}</span></div>
          <div role="cell" class="cell"><${NodeLabel} node=${to} view="table" /></div>
          <div role="cell" class="cell"><span class=${`health ${worse.level} ellipsis`}>${stateText(worse) || html`<span class="none">–</span>`}</span></div>
        </div>`)}
      </div>
    </div>
  </div>`;
}

/** @param {import("./model.js").RelationsModel} model @returns {Relation[]} */
function relationsOf(model) {
  const { nodes } = model.graph.value;
  return model.edges.value.map((edge) => {
    const from = /** @type {import("./graph.js").Node} */ (nodes.get(edge.from));
    const to = /** @type {import("./graph.js").Node} */ (nodes.get(edge.to));
    return { edge, from, to, worse: rank(from.level) < rank(to.level) ? from : to };
  });
}

/** @type {Record<string, (relation: Relation) => string>} */
const KEYS = {
  from: ({ from }) => titleOf(from),
  relation: ({ edge }) => edge.type,
  why: ({ edge }) => edge.why[0],
  to: ({ to }) => titleOf(to),
  health: ({ worse }) => `${rank(worse.level)} ${worse.text}`,
};

/** @param {Relation[]} relations @param {string} sort a column; descending with a minus */
function sorted(relations, sort) {
  const column = sort.replace(/^-/, "");
  const keyOf = Object.hasOwn(KEYS, column) ? KEYS[column] : null;
  if (!keyOf) return relations;
  const sign = sort.startsWith("-") ? -1 : 1;
  return relations
    .map((relation) => ({ relation, key: keyOf(relation) }))
    .sort((a, b) => sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ relation }) => relation);
}
