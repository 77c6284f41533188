/** Tree of owners: arrow keys move and fold, letters go to a name, `*` opens, Enter follows the object. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { go } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { visible } from "../transport/errors.js";
import { NodeLabel, nodeAddress, stateText, titleOf } from "./node_label.js";
import { openLines } from "./tree.js";
import { moved } from "./tree_keys.js";
import { useVirtualRows } from "./virtual_rows.js";

const HEIGHTS = { wide: 34, narrow: 48, head: 0 };

/** @param {{ model: import("./model.js").RelationsModel }} props */
export function TreeView({ model }) {
  const closed = useSignal(/** @type {ReadonlySet<string>} */ (new Set()));
  const active = useSignal("");
  const typed = useRef({ text: "", at: 0 });
  const lines = openLines(model.shownTree.value, closed.value);
  const { scroller, first, last, row, page, reveal, onScroll } = useVirtualRows(lines.length, HEIGHTS);
  const own = Math.max(0, lines.findIndex((line) => line.self));
  const index = Math.max(lines.findIndex((line) => line.key === active.value), active.value ? 0 : own);
  const show = (/** @type {number} */ to) => {
    active.value = lines[to]?.key ?? "";
    reveal(to);
  };
  const toggle = (/** @type {import("./tree.js").Line[]} */ these, /** @type {boolean} */ open) => {
    const next = new Set(closed.peek());
    for (const { key } of these) open ? next.delete(key) : next.add(key);
    closed.value = next;
  };
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const line = lines[index];
    const href = event.key === "Enter" && line ? nodeAddress(line.node, "") : "";
    const move = href ? null : moved(event.key, lines, index, { page, closed: closed.peek(), typed: typed.current, nowMs: event.timeStamp });
    if (!href && !move) return;
    event.preventDefault();
    if (href) go(href);
    if (move?.open) toggle(move.open, true);
    if (move?.close) toggle(move.close, false);
    if (move?.to !== undefined) show(move.to);
  };
  return html`<div class="owner-tree" role="tree" tabindex="0" ref=${scroller} aria-label=${t("relations.tree_label")} onScroll=${onScroll} onKeyDown=${keyed}
    aria-activedescendant=${index >= first && index < last ? lineId(index) : null}>
    <div class="tree-body" role="none" style=${{ "--rows-height": `${lines.length * row}px` }}>
      ${lines.slice(first, last).map((line, i) => html`<${TreeRow} key=${line.key} line=${line} index=${first + i} top=${(first + i) * row}
        closed=${closed.value.has(line.key)} active=${first + i === index} onToggle=${(/** @type {boolean} */ open) => toggle([line], open)} onChoose=${() => (active.value = line.key)} />`)}
    </div>
  </div>`;
}

/** @param {number} index */
function lineId(index) {
  return `line-${index}`;
}

/** @param {any} props */
function TreeRow({ line, index, top, closed, active, onToggle, onChoose }) {
  const { node, depth, position, siblings, children, self, worst, problems } = /** @type {import("./tree.js").Line} */ (line);
  const below = problems - (node.problem ? 1 : 0);
  const name = [titleOf(node), self ? t("relations.this") : "", stateText(node), below ? t("relations.below", { count: below }) : "", markOf(line)].filter(Boolean).join(", ");
  return html`<div class=${`tree-row ${self ? "self" : ""} ${active ? "active" : ""}`} role="treeitem" id=${lineId(index)} aria-level=${depth + 1}
    aria-posinset=${position} aria-setsize=${siblings} aria-expanded=${children.length ? !closed : null} aria-selected=${active} aria-label=${name}
    aria-current=${self ? "true" : null} style=${{ transform: `translateY(${top}px)`, "--depth": Math.min(depth, 12) }} onClick=${onChoose}>
    <span class="tree-name"><span class="tree-indent">${children.length > 0 && html`<span class="fold" aria-hidden="true" onClick=${() => onToggle(closed)}><${Icon} name=${closed ? "right" : "down"} /></span>`}</span><${NodeLabel} node=${node} level=${worst} focusable=${false} />${self && html`<span class="self-mark">${t("relations.this")}</span>`}</span>
    <span class="tree-state">${node.state === "present" ? html`<span class=${`health ${node.level}`} translate=${false}>${visible(node.text)}</span>` : html`<span class="none">${stateText(node)}</span>`}
      ${markOf(line) && html`<span class="soft">${markOf(line)}</span>`}</span>
    <span class="tree-below">${below > 0 && html`<span class="pill bad">${t("relations.below", { count: below })}</span>`}</span>
    <span class="tree-age">${node.created && html`<${Age} at=${node.created} />`}</span>
  </div>`;
}

/** @param {import("./tree.js").Line} line */
function markOf(line) {
  return line.cycle ? t("relations.cycle") : line.again ? t("relations.again") : "";
}
