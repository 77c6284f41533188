/** Time of each step of a traced write, as bars on one axis: a slow webhook is the wide one. */
import { html } from "../frame/html.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { valueText } from "../server/units.js";

/** @typedef {import("./saving.js").Step} Step */
/** @typedef {{ title: string, from: number, took: number }} Bar `from` and `took` in microseconds */

/**
 * Return the bars of the steps. Each step starts at the end of the one before it.
 * @param {Step[]} steps
 * @returns {Bar[]}
 */
export function barsOf(steps) {
  let from = 0;
  return steps.map(({ name, detail = "", tookMicroseconds: took = 0 }) => {
    const bar = { title: detail && name.endsWith("admission") ? `${name}: ${detail}` : name, from, took };
    from += took;
    return bar;
  });
}

/** @param {{ steps: Step[] }} props */
export function Waterfall({ steps }) {
  const bars = barsOf(steps);
  const total = bars.reduce((sum, { took }) => sum + took, 0) || 1;
  return html`<details class="waterfall"><summary>${t("review.time", { time: valueText(total / 1e6, "seconds") })}</summary>
    <ol role="list">${bars.map(({ title, from, took }, i) => html`<li key=${i}>
      <span class="ellipsis" translate=${false} title=${visible(title)}>${visible(title)}</span>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect x=${(100 * from) / total} y="1" width=${Math.max(0.4, (100 * took) / total)} height="6" /></svg>
      <span class="number" translate=${false}>${valueText(took / 1e6, "seconds")}</span></li>`)}</ol></details>`;
}
