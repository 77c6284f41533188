/** Relations of an object: a tree of owners, a graph and a table of all relations. The address has the whole state. */
import { useEffect, useMemo } from "preact/hooks";
import { pluralTitle } from "../discovery/kinds.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty, Loading } from "../frame/states.js";
import { query } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { GraphView } from "./graph_view.js";
import { RelationsModel } from "./model.js";
import { TableView } from "./table_view.js";
import { Toolbar } from "./toolbar.js";
import { TreeView } from "./tree_view.js";

/** @type {Record<string, (props: any) => any>} The first one is shown by default. */
const VIEWS = { tree: TreeView, graph: GraphView, table: TableView };

const NAMES_MAX = 8;

/** @param {import("../details/tabs.js").TabProps} props */
export function RelationsView({ kind, object, deleted }) {
  const { namespace = "", name } = object.metadata;
  const model = useMemo(() => new RelationsModel(kind, namespace, name), []);
  useEffect(() => model.source.start(), []);
  const { source } = model;
  const view = Object.hasOwn(VIEWS, query.value.get("view") ?? "") ? String(query.value.get("view")) : "tree";
  const View = VIEWS[view];
  const present = model.graph.value.nodes.has(model.root);
  if (!source.loaded.value) {
    return html`<div class="relations"><p class="relations-reading hint" role="status">${t("relations.reading", { done: source.done.value, count: source.states.length })}</p><${Loading} /></div>`;
  }
  if (deleted || !present) return html`<${Empty} icon="link" title=${t("relations.gone")} hint=${t("relations.gone_hint")} />`;
  const nothing = model.matches.value !== null && model.shown.value.size <= 1 && view !== "tree";
  return html`<div class="relations">
    <${Toolbar} model=${model} views=${Object.keys(VIEWS)} view=${view} />
    <${Notes} source=${source} />
    ${nothing ? html`<${Empty} icon="filter" title=${t("relations.nothing")} hint=${t("relations.nothing_hint")} />` : html`<${View} key=${view} model=${model} />`}
  </div>`;
}

/** What the views lack. @param {{ source: import("./source.js").RelationsSource }} props */
function Notes({ source }) {
  source.version.value;
  const { unread } = source;
  return html`<div class="relations-notes" hidden=${unread.length === 0 && !source.cut.value}>
    ${source.cut.value && html`<p class="hint warn" role="status"><${Icon} name="warn" />${t("relations.cut")}</p>`}
    ${unread.length > 0 && html`<p class="hint warn" role="status"><${Icon} name="lock" /><span>${t("relations.refused")} <span translate=${false}>${unread.slice(0, NAMES_MAX).map(pluralTitle).join(", ")}</span> ${unread.length > NAMES_MAX && t("detail.and_more", { count: unread.length - NAMES_MAX })}</span></p>`}
  </div>`;
}
