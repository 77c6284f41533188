/** Table of a comparison: three texts side by side, and who changes each line. */
import { html } from "../frame/html.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";

const COLUMNS = /** @type {const} */ (["review.stored", "review.yours", "review.result"]);
const LEVELS = ["gone", "other", "new"];

/** @param {{ rows: (import("./comparison.js").Compared | number)[], traced: boolean }} props */
export function Comparison({ rows, traced }) {
  const nothing = rows.every((row) => typeof row === "number");
  if (nothing) return html`<p class="hint">${t("review.equal")}</p>`;
  return html`<div class="table-frame review-frame" role="region" tabindex="0" aria-label=${t("review.comparison")}><table class="review">
    <thead><tr>${COLUMNS.map((name) => html`<th scope="col" key=${name}>${t(name)}</th>`)}<th scope="col">${t("review.who")}</th></tr></thead>
    <tbody>${rows.map((row, i) => (typeof row === "number"
      ? html`<tr key=${i} class="gap"><td colspan="4">${t("review.lines", { count: row })}</td></tr>`
      : html`<${Line} key=${i} row=${row} />`))}</tbody>
  </table></div>
  ${!traced && html`<p class="hint">${t("review.untraced")}</p>`}`;
}

/** @param {{ row: import("./comparison.js").Compared }} props */
function Line({ row: { texts, changed, who } }) {
  return html`<tr>${texts.map((text, i) => {
    const differs = i === 2 ? changed[0] && text !== null : changed[i] && text !== null;
    return html`<td key=${i} class=${differs ? LEVELS[i] : null} translate=${false}>${text === null ? "" : html`<code>${visible(text)}</code>`}</td>`;
  })}<td class="who">${who && html`<span class=${`pill ${who.kind}`}>${who.text}</span>`}</td></tr>`;
}
