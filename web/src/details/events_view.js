/** Events of an object and of what it owns, its conditions and its changes, on one time line. The newest are first. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty } from "../frame/states.js";
import { Forbidden } from "../rights/refused.js";
import { objectAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { clockFormat, t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { safeMessage } from "../transport/errors.js";
import { timeline } from "./timeline.js";

const EVENTS = { group: "", version: "v1", plural: "events", namespaced: true };

/** @param {{ related: import("./related.js").Related, object: any }} props */
export function EventsView({ related, object }) {
  if (related.eventsRefused.value?.code === 403) {
    return html`<${Forbidden} error=${related.eventsRefused.value} kind=${EVENTS} namespace=${object.metadata.namespace ?? ""} />`;
  }
  const entries = timeline(object, related.shownEvents.value);
  if (entries.length === 0) return html`<${Empty} icon="progress" title=${t("events.none")} hint=${t("events.none_hint")} />`;
  return html`<div class="events"><p class="soft">${t("events.scope")}</p>
    <ol class="timeline" role="list">${entries.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} self=${object.metadata.uid} />`)}</ol></div>`;
}

/** @param {{ entry: import("./timeline.js").Entry, self: string }} props */
function Entry({ entry, self }) {
  const { about } = entry;
  const kind = about && about.uid !== self ? session.discovery.ofObject(about.apiVersion ?? "", about.kind) : undefined;
  return html`<li class=${`event ${entry.level}`}>
    <span class="event-icon"><${Icon} name=${entry.level} /><span class="visually-hidden">${t(`health.${entry.level}`)}</span></span>
    <span class="event-time"><${Age} at=${entry.at} /><span class="soft clock">${clockFormat().format(Date.parse(entry.at))}</span></span>
    <div class="event-body">
      <div class="event-head">
        <strong translate=${Boolean(entry.text)}>${entry.text ? t(entry.text, entry.values) : entry.reason}</strong>
        ${kind && about && html`<a translate=${false} href=${objectAddress(kind, about.namespace ?? "", about.name)}>${about.kind} ${about.name}</a>`}
        ${entry.count > 1 && html`<span class="soft">${t("events.count", { count: entry.count })}</span>`}
      </div>
      ${entry.message && html`<p translate=${false}>${safeMessage(entry.message)}</p>`}
    </div>
  </li>`;
}
