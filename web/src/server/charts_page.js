/** Charts of the server's metrics of the last 15 minutes, which the page samples itself. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pause } from "../discovery/discovery.js";
import { html } from "../frame/html.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { Chart } from "./chart.js";
import { metricsOf } from "./exposition.js";
import { CHARTS, NAMES } from "./measures.js";
import { Recorder } from "./recorder.js";
import { ServerRefused } from "./server_refused.js";

const PATH = "/metrics";
const SAMPLE_MS = 5000;

/** Recorder of the session, so that the charts continue after a visit of another page. @type {WeakMap<AbortController, Recorder>} */
const recorders = new WeakMap();

export function ChartsPage() {
  const refused = useSignal(/** @type {any} */ (null));
  const recorder = recorderOf(session.stop);
  useEffect(() => {
    const stop = new AbortController();
    sample(recorder, refused, stop.signal);
    return () => stop.abort();
  }, []);
  if (refused.value && recorder.recorded.value.times.length === 0) return html`<${ServerRefused} error=${refused.value} path=${PATH} />`;
  const { times, lines } = recorder.recorded.value;
  return html`<p class="soft">${t("server.charts_hint")}</p>
    <div class="charts">${CHARTS.map(({ id, unit }) => html`<${Chart} key=${id} id=${id} unit=${unit} times=${times} lines=${lines.get(id) ?? []} />`)}</div>`;
}

/** @param {AbortController} of */
function recorderOf(of) {
  const found = recorders.get(of) ?? new Recorder();
  recorders.set(of, found);
  return found;
}

/**
 * Read the metrics until the signal aborts; not while the page is hidden.
 * @param {Recorder} recorder
 * @param {import("@preact/signals").Signal<any>} refused
 * @param {AbortSignal} stop
 */
async function sample(recorder, refused, stop) {
  while (!stop.aborted) {
    if (!document.hidden) {
      try {
        const text = await session.transport.text(PATH, { signal: stop });
        recorder.add({ at: Date.now() / 1000, metrics: metricsOf(text, (name) => NAMES.has(name)) });
        refused.value = null;
      } catch (error) {
        if (!stop.aborted) refused.value = error;
      }
    }
    await pause(SAMPLE_MS, stop);
  }
}
