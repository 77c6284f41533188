/** Chart of a few lines over time, with a legend that has the newest values. */
import { html } from "../frame/html.js";
import { clockFormat, t } from "../texts/catalogue.js";
import { linePath, ticksUpTo } from "./plot.js";
import { valueText } from "./units.js";

/** Size of the plot; the axes are outside. The lines stretch with the width, the texts do not. */
const WIDTH = 300;
const HEIGHT = 110;
const TICKS = 3;
/** Patterns of dashes, so that lines differ not by their colour alone. */
const DASHES = ["", "6 3", "2 3", "10 3 2 3", "1 2", "12 4"];
/** Lines whose names are texts of the page. */
const OWN = new Set(["median", "executing", "waiting", "processor", "memory"]);

/** @typedef {import("./recorder.js").Line} Line */

/** @param {{ id: string, unit: import("./measures.js").Unit, times: number[], lines: Line[] }} props */
export function Chart({ id, unit, times, lines }) {
  const title = t(`server.chart.${id}`);
  const summary = lines.map((line) => `${nameOf(line)} ${newest(line, unit)}`).join(", ") || t("server.no_values");
  return html`<section class="chart" aria-labelledby=${`chart-${id}`}>
    <h2 id=${`chart-${id}`}>${title}</h2>
    <${Plot} unit=${unit} times=${times} lines=${lines} label=${`${title}: ${summary}`} />
    <ul class="legend" role="list">${lines.map((line, i) => html`<li key=${line.title}>
      <svg class="legend-line" viewBox="0 0 22 4" aria-hidden="true"><path class=${`series-${i + 1}`} d="M0 2H22" stroke-dasharray=${DASHES[i]} /></svg>
      <span class="ellipsis" translate=${OWN.has(line.title) ? null : false}>${nameOf(line)}</span><span class="legend-value" translate=${false}>${newest(line, unit)}</span></li>`)}</ul>
    ${lines.length === 0 && html`<p class="none">${t("server.no_values")}</p>`}
  </section>`;
}

/** @param {Line} line */
function nameOf({ title }) {
  return OWN.has(title) ? t(`server.line.${title}`) : title;
}

/** @param {Line} line @param {import("./measures.js").Unit} unit */
function newest({ values }, unit) {
  return valueText(values.at(-1), unit);
}

/** @param {{ unit: import("./measures.js").Unit, times: number[], lines: Line[], label: string }} props */
function Plot({ unit, times, lines, label }) {
  const ticks = ticksUpTo(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))), TICKS);
  const top = ticks[ticks.length - 1];
  const [first, last] = [times[0], times[times.length - 1]];
  const clock = (/** @type {number} */ at) => clockFormat().format(at * 1000);
  return html`<div class="plot" role="img" aria-label=${label}>
    <div class="plot-values" aria-hidden="true" translate=${false}>${[...ticks].reverse().map((tick) => html`<span key=${tick}>${tick === 0 ? "0" : valueText(tick, unit)}</span>`)}</div>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      ${ticks.map((tick) => html`<path key=${tick} class="plot-grid" d=${`M0 ${HEIGHT * (1 - tick / top)}H${WIDTH}`} />`)}
      ${lines.map((line, i) => html`<path key=${line.title} class=${`series-${i + 1}`} stroke-dasharray=${DASHES[i]} d=${linePath(times, line.values, top, WIDTH, HEIGHT)} />`)}
    </svg>
    <div class="plot-times" aria-hidden="true" translate=${false}>${first !== undefined && html`<span>${clock(first)}</span><span>${last === first ? "" : clock(last)}</span>`}</div>
  </div>`;
}
