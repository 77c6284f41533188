/** Table of the lines in which two states differ: one column, or side by side. */
import { useMemo } from "preact/hooks";
import { html } from "../frame/html.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { differenceOf, parts, unified } from "./difference.js";

const SIGNS = { before: "−", after: "+", "": "" };
const CLASSES = { before: "gone", after: "new", "": "" };

/** @param {{ before: any, after: any, status: boolean, split: boolean, label: string }} props */
export function DifferenceTable({ before, after, status, split, label }) {
  const { rows, left } = useMemo(() => differenceOf(before, after, { status }), [before, after, status]);
  if (rows.every((row) => typeof row === "number")) return html`<p class="difference-none soft">${t("history.equal")}</p>`;
  return html`<div class="difference" role="region" tabindex="0" aria-label=${label}>
    <table class=${split ? "lines split" : "lines"}>
      ${split ? html`<${Split} rows=${rows} />` : html`<${Unified} rows=${rows} />`}
    </table>
    ${left > 0 && html`<p class="hint">${t("history.more_lines", { count: left })}</p>`}
  </div>`;
}

/** @param {{ rows: import("./difference.js").Difference["rows"] }} props */
function Unified({ rows }) {
  return html`<tbody>${unified(rows).map((row, i) => (typeof row === "number"
    ? html`<${Gap} key=${i} count=${row} columns=${1} />`
    : html`<tr key=${i}><${Line} text=${row.text} other=${row.other} side=${row.side} /></tr>`))}</tbody>`;
}

/** @param {{ rows: import("./difference.js").Difference["rows"] }} props */
function Split({ rows }) {
  return html`<tbody>${rows.map((row, i) => (typeof row === "number"
    ? html`<${Gap} key=${i} count=${row} columns=${2} />`
    : html`<tr key=${i}><${Line} text=${row.before} other=${row.after} side=${row.changed ? "before" : ""} />
      <${Line} text=${row.after} other=${row.before} side=${row.changed ? "after" : ""} /></tr>`))}</tbody>`;
}

/** @param {{ count: number, columns: number }} props */
function Gap({ count, columns }) {
  return html`<tr class="gap"><td colspan=${columns}>${t("review.lines", { count })}</td></tr>`;
}

/** @param {{ text: string | null, other: string | null, side: "before" | "after" | "" }} props */
function Line({ text, other, side }) {
  if (text === null) return html`<td class="absent"></td>`;
  const [start, changed, end] = side ? parts(text, other) : [text, "", ""];
  return html`<td class=${CLASSES[side] || null} translate=${false}><span class="sign" aria-hidden="true">${SIGNS[side]}</span>${side && html`<span class="visually-hidden">${SIGNS[side]}</span>`}<code>${visible(start)}${changed && html`<mark>${visible(changed)}</mark>`}${visible(end)}</code></td>`;
}
