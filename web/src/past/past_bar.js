/** Bar of a page that shows the past: which moment, a slider and steps to others, and the way back to the present. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { apiPath } from "../discovery/kinds.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { reportError } from "../frame/notices.js";
import { address, setQuery } from "../routes/location.js";
import { routeOf } from "../routes/routes.js";
import { session } from "../session/session.js";
import { RetentionOption } from "../history/retention.js";
import { instantFormat, t } from "../texts/catalogue.js";
import { humanDuration } from "../time/age.js";
import { present, shownTime } from "../time/clock.js";
import { found, moment, momentOf, momentText, showsPast } from "./moment.js";
import { nextChange } from "./revision_at.js";

const WINDOW_MS = 3_600_000;

/** @param {{ route: import("../routes/routes.js").Route }} props */
export function PastBar({ route }) {
  const shown = moment.value;
  useSignalEffect(() => {
    const at = moment.value;
    if (found.peek() && found.peek()?.text !== at?.text) found.value = null;
    shownTime.value = at && showsPast(routeOf(address.value).name) ? (Number.isNaN(at.ms) ? (found.value?.ms ?? NaN) : at.ms) : NaN;
  });
  if (!shown) return null;
  const past = showsPast(route.name);
  const state = found.value;
  const ms = Number.isNaN(shown.ms) ? (state?.ms ?? NaN) : shown.ms;
  return html`<section class="past" aria-label=${t("past.title")}>
    <div class="past-text" role="status"><${Icon} name="history" /><p><strong>${Number.isNaN(ms) ? t("history.revision", { revision: String(shown.revision) }) : html`<span translate=${false}>${instantFormat().format(ms)}</span>`}</strong>
      ${!Number.isNaN(ms) && html` <span>${t("past.ago", { time: humanDuration((present.value - ms) / 1000) })}</span>`} <span class="past-note">${t(past || route.name === "edit" || route.name === "create" ? "past.read_only" : "past.present_page")}</span></p></div>
    ${past && html`<${Slider} ms=${ms} />`}
    <div class="past-steps">
      ${(route.name === "list" || route.name === "object") && html`<${Step} route=${route} direction=${-1} /><${Step} route=${route} direction=${1} />`}
      <button type="button" class="button small-button primary" onClick=${leave}>${t("past.leave")}</button>
    </div>
    ${state?.uncertain && html`<p class="past-uncertain" role="status">${t("past.uncertain")} <${RetentionOption} /></p>`}
  </section>`;
}

/** Return to the present. */
export function leave() {
  setQuery({ at: "" });
}

/** Show the page as it was a moment ago. */
export function enterPast() {
  if (!momentText.peek()) setQuery({ at: momentOf(Date.now() - 60_000) });
}

/** @param {{ ms: number }} props */
function Slider({ ms }) {
  const moved = useSignal(NaN);
  const now = present.peek();
  const from = Math.floor(now / 1000 - Math.max(WINDOW_MS, Number.isNaN(ms) ? 0 : (now - ms) * 1.5) / 1000);
  const value = Math.floor((Number.isNaN(moved.value) ? (Number.isNaN(ms) ? now : ms) : moved.value) / 1000);
  const text = instantFormat().format(value * 1000);
  const committed = (/** @type {any} */ event) => {
    moved.value = NaN;
    setQuery({ at: momentOf(Number(event.target.value) * 1000) });
  };
  return html`<label class="past-slider"><span class="visually-hidden">${t("past.slider")}</span>
    <input type="range" min=${from} max=${Math.floor(now / 1000)} step="1" value=${value} aria-valuetext=${text} onInput=${(/** @type {any} */ event) => (moved.value = Number(event.target.value) * 1000)} onChange=${committed} />
    <span class="past-moved" aria-hidden="true" translate=${false}>${Number.isNaN(moved.value) ? "" : text}</span></label>`;
}

/** @param {{ route: any, direction: 1 | -1 }} props */
function Step({ route, direction }) {
  const busy = useSignal(false);
  const none = useSignal("");
  const label = t(direction < 0 ? "past.earlier" : "past.later");
  const step = async () => {
    const kind = session.discovery.find(route);
    const state = found.peek();
    if (!kind || !state || busy.peek()) return;
    busy.value = true;
    const namespaces = new URLSearchParams(location.search).get("ns") ?? "";
    const path = route.name === "object" ? apiPath(kind, route.namespace, route.object) : apiPath(kind, namespaces.includes(",") ? "" : namespaces);
    try {
      const current = Number(state.revision) || Infinity;
      const revision = current === Infinity && direction > 0 ? "" : await nextChange(path, route.name === "object" ? "revisions" : "changes", current === Infinity ? Number.MAX_SAFE_INTEGER : current, direction);
      none.value = revision ? "" : t(direction < 0 ? "past.no_earlier" : "past.no_later");
      if (revision) setQuery({ at: revision });
    } catch (error) {
      reportError(error);
    } finally {
      busy.value = false;
    }
  };
  return html`<button type="button" class="button small-button quiet" disabled=${busy.value || !found.value} onClick=${step} title=${none.value || null}><${Icon} name=${direction < 0 ? "back" : "right"} />${none.value || label}</button>`;
}
