/** The problem of a row as a sentence; without one, its state. */
import { html } from "../frame/html.js";
import { t } from "../texts/catalogue.js";
import { humanDuration } from "../time/age.js";
import { now } from "../time/clock.js";
import { visible } from "../transport/errors.js";

/** @param {{ problem: import("../health/row_health.js").Problem | null, status: string }} props */
export function ProblemText({ problem, status }) {
  if (!problem) return status ? html`<span translate=${false}>${visible(status)} </span>` : null;
  const time = problem.at ? humanDuration((now.value - Date.parse(problem.at)) / 1000) : "";
  return html`<span>${visible(t(problem.key, { time, ...problem.values }))} </span>`;
}
