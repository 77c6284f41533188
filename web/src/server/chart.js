/** Chart of a few lines over time, with a legend that has the newest values. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { html } from "../frame/html.js";
import { theme } from "../frame/theme.js";
import { clockFormat, t } from "../texts/catalogue.js";
import { valueText } from "./units.js";

const DARK = matchMedia("(prefers-color-scheme: dark)");
const HEIGHT = 150;
const LINES_MAX = 6;
/** Patterns of dashes, so that no line is told from another by its colour alone. */
const DASHES = [[], [6, 3], [2, 3], [10, 3, 2, 3], [1, 2], [12, 4]];
/** Lines whose names are texts of the page. */
const OWN = new Set(["median", "executing", "waiting", "processor", "memory"]);

/** @typedef {import("./recorder.js").Line} Line */

/** @param {{ id: string, unit: import("./measures.js").Unit, times: number[], lines: Line[] }} props */
export function Chart({ id, unit, times, lines }) {
  const title = t(`server.chart.${id}`);
  return html`<section class="chart" aria-labelledby=${`chart-${id}`}>
    <h2 id=${`chart-${id}`}>${title}</h2>
    <${Canvas} unit=${unit} times=${times} lines=${lines} label=${`${title}: ${lines.map((line) => `${nameOf(line)} ${newest(line, unit)}`).join(", ") || t("server.no_values")}`} />
    <ul class="legend" role="list">${lines.map((line, i) => html`<li key=${line.title}>
      <svg class="legend-line" viewBox="0 0 22 4" aria-hidden="true"><line x1="0" y1="2" x2="22" y2="2" stroke=${`var(--series-${i + 1})`} stroke-width="2" stroke-dasharray=${DASHES[i].join(" ")} /></svg>
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
function Canvas({ unit, times, lines, label }) {
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  const plot = useRef(/** @type {uPlot | null} */ (null));
  const scheme = useScheme();
  useEffect(() => {
    const box = /** @type {HTMLDivElement} */ (root.current);
    const made = new uPlot(optionsOf(box, unit), emptyData(), box);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: HEIGHT }));
    resized.observe(box);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [theme.value, scheme]);
  useEffect(() => {
    const rest = Array(LINES_MAX - lines.length).fill(times.map(() => null));
    plot.current?.setData([times, ...lines.map((line) => line.values), ...rest]);
  }, [times, lines, theme.value, scheme]);
  return html`<div class="chart-canvas" role="img" aria-label=${label} ref=${root} />`;
}

/** Return whether the system is dark; it follows a change. */
function useScheme() {
  const dark = useSignal(DARK.matches);
  useEffect(() => {
    const changed = () => (dark.value = DARK.matches);
    DARK.addEventListener("change", changed);
    return () => DARK.removeEventListener("change", changed);
  }, []);
  return dark.value;
}

/** @param {HTMLElement} box @param {import("./measures.js").Unit} unit @returns {uPlot.Options} */
function optionsOf(box, unit) {
  const font = `11px ${getComputedStyle(box).fontFamily}`;
  const colour = (/** @type {string} */ name) => resolved(box, name);
  const axis = { stroke: colour("--soft"), font, grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  return {
    width: box.clientWidth || 300, height: HEIGHT, cursor: { show: false }, legend: { show: false }, padding: [8, 8, 6, 0],
    scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, size: 24, values: (_, values) => values.map((value) => clockFormat().format(value * 1000)), space: 90 },
      { ...axis, size: 56, values: (_, values) => values.map((value) => (value === 0 ? "0" : valueText(value, unit))), space: 32 },
    ],
    series: [{}, ...DASHES.map((dash, i) => ({ stroke: colour(`--series-${i + 1}`), width: 1.5, dash, points: { show: false }, spanGaps: false }))],
  };
}

/**
 * Return a colour of the theme as a canvas needs it: a property may be a function of the scheme.
 * @param {HTMLElement} box
 * @param {string} name
 */
function resolved(box, name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  box.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** @returns {uPlot.AlignedData} */
function emptyData() {
  return /** @type {any} */ ([[], ...DASHES.map(() => [])]);
}
