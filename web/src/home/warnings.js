/** Recent events of type Warning, in the namespaces whose events the user may list. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pause } from "../discovery/discovery.js";
import { apiPath } from "../discovery/kinds.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { momentText } from "../past/moment.js";
import { readList } from "../past/read.js";
import { objectAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { safeMessage } from "../transport/errors.js";
import { scopesOf } from "./counts.js";

const SHOWN_MAX = 8;
const READ_MAX = 200;
const AGAIN_MS = 15_000;
const EVENTS = { group: "", version: "v1", plural: "events", singular: "event", kind: "Event", namespaced: true, verbs: ["list"], shortNames: [], categories: [] };

export function Warnings() {
  const events = useSignal(/** @type {any[] | null} */ (null));
  const forbidden = useSignal(false);
  useEffect(() => {
    const stop = new AbortController();
    const read = async () => {
      while (!stop.signal.aborted) {
        if (!document.hidden || events.peek() === null) {
          const found = await warnings(stop.signal).catch(() => undefined);
          if (found) events.value = newest(found);
          forbidden.value = found === null;
        }
        if (momentText.peek()) return;
        await pause(AGAIN_MS, stop.signal);
      }
    };
    read();
    return () => stop.abort();
  }, []);
  if (forbidden.value) return html`<p class="soft">${t("home.forbidden_warnings")}</p>`;
  if (events.value === null) return html`<p class="soft" role="status">${t("app.loading")}</p>`;
  if (events.value.length === 0) return html`<p class="quiet-line"><${Icon} name="good" class="good" />${t("home.no_warnings")}</p>`;
  return html`<ul class="home-list warnings" role="list">${events.value.map((event) => html`<${Warning} key=${event.metadata.uid} event=${event} />`)}</ul>`;
}

/**
 * Return warnings; null if the user may list none.
 * @param {AbortSignal} stop
 * @returns {Promise<any[] | null>}
 */
async function warnings(stop) {
  const scopes = await scopesOf(EVENTS, stop);
  if (scopes === null) return null;
  const parameters = { fieldSelector: "type=Warning", limit: String(READ_MAX) };
  const lists = await Promise.allSettled(scopes.map((scope) => readList(apiPath(EVENTS, scope), parameters, { signal: stop })));
  const found = lists.flatMap((list) => (list.status === "fulfilled" ? [list.value] : []));
  return found.length ? found.flatMap((list) => list.items) : null;
}

/** @param {{ event: any }} props */
function Warning({ event }) {
  const { involvedObject: about = {}, reason, message } = event;
  const kind = session.discovery.ofObject(about.apiVersion ?? "", about.kind);
  const name = `${about.kind} ${about.name}`;
  return html`<li><span class="home-what">${kind ? html`<a translate=${false} href=${objectAddress(kind, about.namespace ?? "", about.name)}>${name}</a>` : html`<span translate=${false}>${name}</span>`}
      <span class="warning-reason" translate=${false}>${reason}</span></span>
    <span class="soft"><${Age} at=${timeOf(event)} /></span>
    <span class="warning-message soft" translate=${false}>${safeMessage(message)}</span></li>`;
}

/** @param {any} event */
function timeOf(event) {
  return event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "";
}

/**
 * Return the newest events. Of those about one object with one reason, one is enough.
 * @param {any[]} items
 */
function newest(items) {
  const seen = new Set();
  return items
    .sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
    .filter((event) => {
      const id = `${event.involvedObject?.uid} ${event.reason}`;
      return !seen.has(id) && seen.add(id);
    })
    .slice(0, SHOWN_MAX);
}
