/** An object in a view of relations: its health, kind and name, as a link. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";

/**
 * Return the address of an object with the same view; empty if there is none.
 * @param {import("./graph.js").Node} node
 * @param {string} view
 */
export function nodeAddress({ kind, namespace, name, state }, view) {
  return kind && state !== "missing" ? objectAddress(kind, namespace, name, { tab: "relations", view }) : "";
}

/** Return the state of an object in words. @param {import("./graph.js").Node} node */
export function stateText({ state, level, text }) {
  if (state === "missing") return t("detail.missing");
  if (state === "unread") return t("relations.unread");
  if (state === "subject") return "";
  return level === "neutral" ? text : `${t(`health.${level}`)}${text ? `: ${visible(text)}` : ""}`;
}

/** Return the kind and name of an object. @param {import("./graph.js").Node} node */
export function titleOf({ kindName, name }) {
  return visible(`${kindName} ${name}`);
}

/** @param {{ node: import("./graph.js").Node, level?: import("../health/row_health.js").Level, view?: string, focusable?: boolean }} props */
export function NodeLabel({ node, level = node.level, view = "", focusable = true }) {
  const href = nodeAddress(node, view);
  const shown = html`<span class="node-kind" translate=${false}>${node.kindName}</span> <span class="node-name" translate=${false}>${visible(node.name)}</span>`;
  return html`<span class=${`node-label ${node.state}`}>
    <${Icon} name=${node.state === "missing" ? "broken" : level} class=${level} />
    ${href ? html`<a class="ellipsis" href=${href} tabindex=${focusable ? null : -1} title=${titleOf(node)}>${shown}</a>` : html`<span class="ellipsis" title=${titleOf(node)}>${shown}</span>`}
  </span>`;
}
