/** Buttons of the graph, and what its lines mean. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";

const TYPES = /** @type {const} */ (["owner", "selector", "field"]);

/** @param {{ viewport: import("./viewport.js").Viewport, arrangement: import("./arrangement.js").Arrangement }} props */
export function GraphButtons({ viewport, arrangement }) {
  const button = (/** @type {string} */ icon, /** @type {string} */ text, /** @type {() => void} */ press) =>
    html`<button type="button" class="icon-button small" aria-label=${text} title=${text} onClick=${press}><${Icon} name=${icon} /></button>`;
  return html`<div class="graph-buttons" role="group" aria-label=${t("relations.buttons")}>
    ${button("plus", t("relations.zoom_in"), () => viewport.zoom(1.25))}
    ${button("minus", t("relations.zoom_out"), () => viewport.zoom(0.8))}
    ${button("fit", t("relations.fit"), () => viewport.fit())}
    ${button("restart", t("relations.arrange"), () => (arrangement.again(), viewport.fit()))}
  </div>`;
}

/** @param {{ edges: import("./fold.js").DrawnEdge[] }} props */
export function Legend({ edges }) {
  const present = TYPES.filter((type) => edges.some((edge) => edge.type === type));
  return html`<ul class="graph-legend" role="list">${present.map((type) => html`<li key=${type} class=${`gedge by-${type}`}>
    <svg width="28" height="8" aria-hidden="true"><path class="gline" d="M0 4H28" /></svg>${t(`relations.type.${type}`)}</li>`)}</ul>`;
}
