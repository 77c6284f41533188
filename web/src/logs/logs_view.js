/** Logs of a Pod, or of all Pods of an object, merged by time. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ObjectStore } from "../details/object_store.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty, Loading } from "../frame/states.js";
import { Forbidden, Refused } from "../rights/refused.js";
import { session } from "../session/session.js";
import { numberFormat, t } from "../texts/catalogue.js";
import { LEVELS } from "./line.js";
import { LogLines } from "./log_lines.js";
import { Matcher } from "./matcher.js";
import { optionsOf } from "./options.js";
import { PODS, followPods, isPod } from "./pods.js";
import { LogStreams, PODS_MAX } from "./streams.js";
import { LogToolbar } from "./log_toolbar.js";

const LOG = { ...PODS, plural: "pods/log", kind: "Pod", namespaced: true };

/** @param {import("../details/tabs.js").TabProps} props */
export function LogsView({ kind, object, related }) {
  const store = useMemo(() => new ObjectStore(), []);
  const listed = useSignal(isPod(kind) ? 0 : 1);
  const refused = useSignal(/** @type {any} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    const reread = followPods(kind, object, related, { store, stop: stop.signal, onRefused: (error) => (refused.value = error) });
    const end = related.owned.subscribe(() => reread());
    return () => {
      end();
      stop.abort();
    };
  }, [object.metadata.uid]);
  useSignalEffect(() => {
    if (store.objects.value.size) listed.value = 2;
  });
  const options = optionsOf();
  if (refused.value?.code === 403) return html`<${Forbidden} error=${refused.value} kind=${{ ...LOG, plural: "pods" }} namespace=${object.metadata.namespace} />`;
  if (refused.value && listed.value < 2) return html`<${Refused} error=${refused.value} />`;
  return html`<${Merged} object=${object} kind=${kind} store=${store} options=${options} />`;
}

/** @param {{ object: any, kind: import("../discovery/kinds.js").Kind, store: ObjectStore, options: import("./options.js").Options }} props */
function Merged({ object, kind, store, options }) {
  const key = JSON.stringify([options.pods, options.container, options.previous, options.since]);
  const streams = useMemo(() => new LogStreams({ transport: session.transport, namespace: object.metadata.namespace, options, store }), [key]);
  useEffect(() => {
    const end = store.objects.subscribe(() => streams.update());
    return () => {
      end();
      streams.end();
    };
  }, [streams]);
  const matcher = useMemo(() => new Matcher({ text: options.text, level: options.level ? LEVELS.indexOf(options.level) : -1 }), [options.text, options.level]);
  useEffect(() => {
    const { level } = matcher;
    const words = options.only && matcher.hasText;
    streams.selection.use(level < 0 && !words ? null : (line) => matcher.hasLevel(line) && (!words || matcher.matches(line)));
  }, [matcher, options.only, streams]);
  streams.options = { ...streams.options, times: options.times };
  return html`<section class="logs" aria-label=${t("detail.tab.logs")}>
    <${LogToolbar} streams=${streams} options=${options} matcher=${matcher} single=${isPod(kind)} name=${object.metadata.name} />
    <${Body} streams=${streams} options=${options} matcher=${matcher} />
    <${Summary} streams=${streams} />
  </section>`;
}

/** @param {{ streams: LogStreams, options: import("./options.js").Options, matcher: Matcher }} props */
function Body({ streams, options, matcher }) {
  streams.version.value;
  const sources = streams.sources.value;
  const { length } = streams.selection;
  if (streams.ring.length > 0 && length === 0) return html`<${Empty} icon="filter" title=${t("logs.no_match")} hint=${t("list.no_match_hint", { total: streams.ring.length })} />`;
  if (length > 0) return html`<${LogLines} streams=${streams} options=${options} matcher=${matcher} />`;
  const refused = sources.find((source) => source.state === "refused" && source.code === 403);
  if (refused) return html`<${Forbidden} error=${{ status: { message: refused.problem } }} kind=${LOG} verb="get" namespace=${streams.namespace} />`;
  const problem = sources.find((source) => source.problem);
  if (problem) return html`<${Empty} icon="progress" title=${t(problem.state === "refused" ? "logs.none" : "logs.waiting")} hint=${problem.problem} />`;
  if (sources.length && sources.every((source) => source.state !== "connecting")) return html`<${Empty} icon="terminal" title=${t("logs.none")} hint=${t("logs.none_hint")} />`;
  if (sources.length === 0 && streams.options.pods.length === 0) return html`<${Empty} icon="box" title=${t("logs.no_pods")} hint=${t("logs.no_pods_hint")} />`;
  return html`<${Loading} />`;
}

/** @param {{ streams: LogStreams }} props */
function Summary({ streams }) {
  streams.version.value;
  const sources = streams.sources.value;
  const count = (/** @type {string} */ state) => sources.filter((source) => source.state === state).length;
  const states = ["live", "connecting", "waiting", "ended", "gone", "refused"].map((state) => [state, count(state)]).filter(([, number]) => number);
  const { selection, ring } = streams;
  const pods = streams.pods.value.length;
  return html`<footer class="log-summary">
    <span>${selection.length === ring.length ? t("logs.lines", { count: ring.length }) : t("logs.lines_of", { count: selection.length, total: numberFormat.value.format(ring.length) })}</span>
    ${ring.dropped > 0 && html`<span>${t("logs.dropped", { count: ring.dropped })}</span>`}
    ${selection.stoppedAfter > 0 && html`<span class="warn"><${Icon} name="warn" />${t("logs.stopped", { count: selection.stoppedAfter })}</span>`}
    <div class="spacer" />
    ${pods > PODS_MAX && streams.options.pods.length === 0 && html`<span class="warn"><${Icon} name="warn" />${t("logs.too_many", { count: PODS_MAX, total: pods })}</span>`}
    ${states.map(([state, number]) => html`<span key=${state} class=${`log-state ${state}`}><${Icon} name=${ICONS[state]} />${t(`logs.state.${state}`, { count: number })}</span>`)}
  </footer>`;
}

/** @type {Record<string, string>} */
export const ICONS = { live: "good", connecting: "restart", waiting: "progress", ended: "check", gone: "close", refused: "bad" };
