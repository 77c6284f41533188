/** Dialog of an action on several objects: the plan with a dry run of each, then the progress, and what failed. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Dialog } from "../frame/dialog.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { pluralTitle } from "../discovery/kinds.js";
import { t } from "../texts/catalogue.js";
import { safeMessage } from "../transport/errors.js";
import { runSteps, titleOf, writeOf } from "./bulk.js";

const IDLE_MS = 300;
const LISTED_MAX = 100;
/** Kinds of which each object takes many others with it. */
const GRAVE = new Set(["namespaces", "customresourcedefinitions"]);
const ICONS = { waiting: "progress", possible: "check", refused: "bad", done: "good", failed: "bad" };

/** @param {{ kind: import("../discovery/kinds.js").Kind, action: { id: string, danger: boolean }, marks: import("./marks.js").Marks, onClose: () => void }} props */
export function BulkDialog({ kind, action: { id, danger }, marks, onClose }) {
  const begun = useMemo(() => [...marks.rows.peek().values()].map((row) => /** @type {import("./bulk.js").Step} */ ({ row, state: "waiting", error: null })), []);
  const steps = useSignal(begun);
  const phase = useSignal(/** @type {"input" | "planning" | "planned" | "running" | "over"} */ ("input"));
  const input = useSignal({ replicas: 1, text: "" });
  const typed = useSignal("");
  const onStep = (/** @type {import("./bulk.js").Step} */ step) => (steps.value = steps.peek().map((each) => (each.row.uid === step.row.uid ? step : each)));
  useEffect(() => {
    const stop = new AbortController();
    const complete = writeOf(kind, id, begun[0].row, input.value) !== null;
    phase.value = complete ? "planning" : "input";
    steps.value = begun;
    const timer = setTimeout(async () => {
      if (!complete) return;
      await runSteps(kind, id, begun, input.peek(), { dry: true, signal: stop.signal, onStep });
      if (!stop.signal.aborted) phase.value = "planned";
    }, IDLE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [input.value]);
  const stopRun = useMemo(() => new AbortController(), []);
  useEffect(() => () => stopRun.abort(), []);
  const possible = steps.value.filter((each) => each.state === "possible").length;
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (phase.peek() !== "planned" || possible === 0) return;
    phase.value = "running";
    const wanted = steps.peek().filter((each) => each.state === "possible");
    const done = (/** @type {import("./bulk.js").Step} */ step) => {
      onStep(step);
      if (step.state === "done") marks.set([step.row], false);
    };
    await runSteps(kind, id, wanted, input.peek(), { dry: false, signal: stopRun.signal, onStep: done });
    phase.value = "over";
  };
  const title = titleOf(id);
  const over = phase.value === "over";
  const locked = danger && GRAVE.has(kind.plural) && typed.value !== kind.plural;
  return html`<${Dialog} label=${title} class="action-dialog" onClose=${onClose}><form onSubmit=${submit}>
    <div class="dialog-head"><h2>${title} <span class="soft">${t("bulk.objects", { count: begun.length, kind: pluralTitle(kind) })}</span></h2>
      <button type="button" class="icon-button" aria-label=${t("app.close")} onClick=${onClose}><${Icon} name="close" /></button></div>
    <div class="action-body">
      ${id === "scale" && html`<label class="action-field"><span>${t("action.replicas")}</span><input type="number" min="0" max="100000" required disabled=${over} value=${input.value.replicas}
        onInput=${(/** @type {any} */ event) => event.target.checkValidity() && (input.value = { ...input.peek(), replicas: Number(event.target.value) })} /></label>`}
      ${(id === "label" || id === "annotate") && html`<label class="action-field"><span>${t("bulk.change")}</span><input type="text" autocomplete="off" spellcheck=${false} autofocus disabled=${over} value=${input.value.text}
        onInput=${(/** @type {any} */ event) => (input.value = { ...input.peek(), text: event.target.value })} /></label>`}
      ${danger && GRAVE.has(kind.plural) && html`<label class="action-field"><span>${t("delete.type", { name: kind.plural })}</span><input type="text" autocomplete="off" spellcheck=${false} value=${typed.value}
        onInput=${(/** @type {any} */ event) => (typed.value = event.target.value)} /></label>`}
      <${Steps} steps=${steps.value} phase=${phase.value} />
    </div>
    <div class="dialog-foot"><div class="spacer" /><button type="button" class="button" onClick=${onClose}>${t(over ? "app.close" : "review.cancel")}</button>
      ${!over && html`<button type="submit" class=${`button primary ${danger ? "danger" : ""}`} disabled=${phase.value !== "planned" || possible === 0 || locked}>${title} (${possible})</button>`}</div>
  </form><//>`;
}

/** @param {{ steps: import("./bulk.js").Step[], phase: string }} props */
function Steps({ steps, phase }) {
  const count = (/** @type {string[]} */ states) => steps.filter((each) => states.includes(each.state)).length;
  const bad = count(["refused", "failed"]);
  const text = phase === "input" ? t("bulk.input")
    : phase === "planning" ? t("bulk.planning", { done: steps.length - count(["waiting"]), total: steps.length })
      : phase === "planned" ? t("bulk.plan", { count: count(["possible"]), bad })
        : t(phase === "over" ? "bulk.over" : "bulk.running", { count: count(["done"]), bad, total: steps.length });
  // What is refused first.
  const listed = [...steps].sort((a, b) => Number(Boolean(b.error)) - Number(Boolean(a.error)));
  return html`<p role="status"><${Icon} name=${bad ? "warn" : phase === "over" || phase === "planned" ? "good" : "progress"} /> ${text}</p>
    <ul class="bulk-steps" role="list" tabindex="0" aria-label=${t("bulk.steps")}>${listed.slice(0, LISTED_MAX).map(({ row: { metadata, uid }, state, error }) => html`<li key=${uid} class=${error ? "bad-text" : null}>
      <${Icon} name=${ICONS[state]} /><span class="visually-hidden">${t(`bulk.state.${state}`)}</span>
      <span translate=${false}>${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}</span>
      ${error && html`<p translate=${false}>${safeMessage(/** @type {Error} */ (error).message)}</p>`}</li>`)}
      ${listed.length > LISTED_MAX && html`<li class="soft">${t("detail.and_more", { count: listed.length - LISTED_MAX })}</li>`}</ul>`;
}
