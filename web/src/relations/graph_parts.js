/** Nodes and lines of the graph. A line says why it is there; far away, nodes have no names. */
import { html } from "../frame/html.js";
import { iconPath } from "../frame/icons.js";
import { language, t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { fitted } from "./fitted.js";
import { stateText, titleOf } from "./node_label.js";
import { HEIGHT, WIDTH } from "./sizes.js";

const TEXT_WIDTH = WIDTH - 38 - 10;
const KIND_FONT = "400 11px";
const NAME_FONT = "560 13px";
/** More lines than this are one shape: each has its reason in the table. */
const LINES_MAX = 400;

/**
 * @typedef {{ model: import("./model.js").RelationsModel, arrangement: import("./arrangement.js").Arrangement,
 *   viewport: import("./viewport.js").Viewport, current: string }} Shared
 */

/** @param {Shared & { nodes: import("./fold.js").Drawn[], onFocus: (id: string) => void, onPress: (drawn: import("./fold.js").Drawn) => void }} props */
export function Nodes({ model, nodes, arrangement, viewport, current, onFocus, onPress }) {
  viewport.key.value;
  const { positions } = arrangement.drawn.value;
  const path = pathIds(model);
  const matches = model.matches.value;
  const seen = nodes.filter(({ id }) => id === current || inView(viewport, positions[id]));
  return html`<g class="graph-nodes">${seen.map((drawn) => {
    const faint = path.size > 0 ? !path.has(drawn.id) : matches !== null && drawn.node.id !== model.root && !matches(drawn.node);
    return html`<${NodeBox} key=${drawn.id} drawn=${drawn} at=${positions[drawn.id]} legible=${viewport.legible.value} faint=${faint} root=${drawn.id === model.root}
      chosen=${drawn.id === model.selected.value} end=${drawn.id === model.from.value || drawn.id === model.to.value} current=${drawn.id === current} onFocus=${onFocus} onPress=${onPress} />`;
  })}</g>`;
}

/** @param {any} props */
function NodeBox({ drawn, at, legible, faint, root, chosen, end, current, onFocus, onPress }) {
  const { id, node, count } = /** @type {import("./fold.js").Drawn} */ (drawn);
  const group = count > 1;
  const label = group ? t("relations.group_label", { count, kind: node.kindName, state: groupState(node) }) : [titleOf(node), root ? t("relations.this") : "", stateText(node)].filter(Boolean).join(", ");
  const classes = ["gnode", node.level, node.state, group ? "group" : "", root ? "root" : "", chosen ? "chosen" : "", end ? "end" : "", faint ? "faint" : ""].filter(Boolean).join(" ");
  return html`<g class=${classes} role="button" data-node=${id} tabindex=${current ? 0 : -1} transform=${`translate(${at[0]} ${at[1]})`} aria-label=${label}
    aria-pressed=${group ? null : chosen} onFocus=${() => onFocus(id)} onClick=${() => onPress(drawn)}>
    <title translate=${false}>${label}</title>
    ${group && html`<rect class="behind" x="5" y="5" width=${WIDTH} height=${HEIGHT} rx="6" />`}
    <rect class="box" width=${WIDTH} height=${HEIGHT} rx="6" />
    ${legible && html`<rect class="edge-mark" width="4" height=${HEIGHT} rx="2" />
      <path class=${`gicon ${node.level}`} transform="translate(14 15)" d=${iconPath(node.state === "missing" ? "broken" : node.level)} />
      <text class="gkind" x="38" y="19" translate=${false}>${fitted(`${node.kindName}${!group && node.text && node.state === "present" ? ` · ${visible(node.text)}` : ""}`, TEXT_WIDTH, KIND_FONT)}</text>
      <text class="gname" x="38" y="36" translate=${false}>${fitted(group ? `${count} × ${groupState(node) || node.kindName}` : visible(node.name), TEXT_WIDTH, NAME_FONT)}</text>`}
  </g>`;
}

/** @param {Shared & { edges: import("./fold.js").DrawnEdge[] }} props */
export function EdgeLines({ model, edges, arrangement, viewport, current }) {
  viewport.key.value;
  const { positions } = arrangement.drawn.value;
  const path = pathIds(model);
  const steps = pathEdges(model);
  const about = model.selected.value || current;
  const seen = edges.filter(({ from, to }) => positions[from] && positions[to] && inView(viewport, positions[from], positions[to]));
  const marked = (/** @type {import("./fold.js").DrawnEdge} */ edge) => steps.has(`${edge.from} ${edge.to}`) || (path.size === 0 && (edge.from === about || edge.to === about));
  const one = seen.length > LINES_MAX || !viewport.legible.value;
  const plain = one ? seen.filter((edge) => !marked(edge)) : [];
  const single = one ? seen.filter(marked).slice(0, LINES_MAX) : seen;
  return html`<g class=${path.size ? "graph-edges traced" : "graph-edges"}>
    ${plain.length > 0 && html`<path class="gline many" d=${plain.map((edge) => curve(positions[edge.from], positions[edge.to])).join("")} />`}
    ${single.map((edge) => lineOf(model, edge, curve(positions[edge.from], positions[edge.to]), marked(edge)))}
  </g>`;
}

/** Lines that are drawn: the same element again costs nothing. @type {WeakMap<import("./fold.js").DrawnEdge, { key: string, line: any }>} */
const lines = new WeakMap();

/** @param {import("./model.js").RelationsModel} model @param {import("./fold.js").DrawnEdge} edge @param {string} d @param {boolean} marked */
function lineOf(model, edge, d, marked) {
  const key = `${d} ${marked} ${language.value}`;
  const present = lines.get(edge);
  if (present?.key === key) return present.line;
  const line = edgeLine(reasonOf(model, edge), edge, d, marked);
  lines.set(edge, { key, line });
  return line;
}

/** @param {string} reason @param {import("./fold.js").DrawnEdge} edge @param {string} d @param {boolean} marked */
function edgeLine(reason, edge, d, marked) {
  return html`<g key=${edge.id} class=${`gedge by-${edge.type} ${marked ? "marked" : ""}`} role="img" aria-label=${reason}>
    <title translate=${false}>${reason}</title><path class="hit" d=${d} /><path class="gline" d=${d} marker-end="url(#arrow)" /></g>`;
}

/** Return why a line is there. @param {import("./model.js").RelationsModel} model @param {import("./fold.js").DrawnEdge} edge */
function reasonOf(model, { from, to, type, why, count }) {
  const nameOf = (/** @type {string} */ id) => {
    const drawn = model.folded.value.byId.get(id);
    return drawn ? (drawn.count > 1 ? `${drawn.count} × ${drawn.node.kindName}` : titleOf(drawn.node)) : id;
  };
  const text = t("relations.edge_label", { from: nameOf(from), to: nameOf(to), type: t(`relations.type.${type}`), why: why.join(", ") });
  return visible(count > 1 ? `${text} (× ${count})` : text);
}

/** @param {import("./graph.js").Node} node */
function groupState(node) {
  return node.state === "present" ? (node.level === "neutral" ? "" : t(`health.${node.level}`)) : stateText(node);
}

/** @param {import("./model.js").RelationsModel} model */
function pathIds(model) {
  const path = model.path.value;
  return new Set(path ? [path.from, path.to, ...(path.steps ?? []).flatMap(({ edge }) => [edge.from, edge.to])] : []);
}

/** @param {import("./model.js").RelationsModel} model */
function pathEdges(model) {
  return new Set((model.path.value?.steps ?? []).map(({ edge }) => `${edge.from} ${edge.to}`));
}

/** @param {import("./viewport.js").Viewport} viewport @param {import("./layout.js").Point | undefined} a @param {import("./layout.js").Point | undefined} [b] */
function inView(viewport, a, b = a) {
  return Boolean(a && b) && viewport.shows(Math.min(a?.[0] ?? 0, b?.[0] ?? 0), Math.min(a?.[1] ?? 0, b?.[1] ?? 0), Math.max(a?.[0] ?? 0, b?.[0] ?? 0) + WIDTH, Math.max(a?.[1] ?? 0, b?.[1] ?? 0) + HEIGHT);
}

/** Return a line from the right of one node to the left of another. @param {import("./layout.js").Point} from @param {import("./layout.js").Point} to */
function curve(from, to) {
  const [x, y, x2, y2] = [from[0] + WIDTH, from[1] + HEIGHT / 2, to[0], to[1] + HEIGHT / 2];
  const bend = x2 > x ? Math.max(30, (x2 - x) / 2) : 90;
  return `M${x} ${y}C${x + bend} ${y} ${x2 - bend} ${y2} ${x2 - 2} ${y2}`;
}
