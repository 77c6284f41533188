/** Triggers of a reconcile: the events that led to it. */
import { html } from "../frame/html.js";
import { objectAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { placeOf, resourceOf } from "./figures.js";
import { ObjectLink, kindText } from "./object_link.js";

/** Events with a text; those of later versions are shown as they are. */
const EVENTS = new Set(["list", "create", "update", "delete", "resync", "recheck", "channel", "retry", "requeue-after", "request", "pause", "resume"]);

/** @param {{ event: string }} cause */
function eventText({ event }) {
  return EVENTS.has(event) ? t(`controllers.event_${event}`) : visible(event);
}

/**
 * Short list for a table.
 * @param {{ reconcile: any }} props
 */
export function Triggers({ reconcile }) {
  const { causes, moreCauses } = reconcile;
  if (causes.length === 0) return html`<span class="none">–</span>`;
  const [first] = causes;
  const more = causes.length - 1 + moreCauses;
  return html`<span>${eventText(first)}${first.object && html` · <${Subject} cause=${first} />`}${more > 0 && html` <span class="soft">${t("controllers.more", { count: more })}</span>`}</span>`;
}

/**
 * All triggers of a reconcile, with the revision of the changed object and what has mapped it.
 * @param {{ reconcile: any }} props
 */
export function TriggerList({ reconcile }) {
  const { causes, moreCauses } = reconcile;
  if (causes.length === 0) return html`<p class="soft">${t("controllers.unknown_trigger")}</p>`;
  return html`<ul class="trigger-list" role="list">
    ${causes.map((/** @type {any} */ cause, /** @type {number} */ index) => html`<li key=${index}><span>${eventText(cause)}</span>
      ${cause.object && html`<${Subject} cause=${cause} />`}
      ${cause.object && cause.resourceVersion && html`<${RevisionLink} resource=${cause.resource} object=${cause.object} revision=${cause.resourceVersion} />`}
      ${cause.handler && cause.handler !== "for_object" && html`<code translate=${false} title=${t("controllers.handler")}>${visible(cause.handler)}</code>`}
      ${(cause.predicates ?? []).length > 0 && html`<code translate=${false} title=${t("controllers.predicates")}>${visible(cause.predicates.join(", "))}</code>`}</li>`)}
    ${moreCauses > 0 && html`<li class="soft">${t("controllers.more", { count: moreCauses })}</li>`}
  </ul>`;
}

/** @param {{ cause: any }} props */
function Subject({ cause }) {
  return html`<span><span translate=${false}>${visible(kindText(cause.resource))}</span> <${ObjectLink} resource=${cause.resource} object=${cause.object} /></span>`;
}

/**
 * Link to a revision in the history of an object.
 * @param {{ resource: string, object: string, revision: string }} props
 */
export function RevisionLink({ resource, object, revision }) {
  const kind = session.discovery.find(resourceOf(resource));
  const { namespace, name } = placeOf(object);
  const text = t("controllers.revision", { revision });
  if (!kind) return html`<span class="soft">${text}</span>`;
  return html`<a class="revision-link" href=${objectAddress(kind, namespace, name, { tab: "history", rev: revision })}>${text}</a>`;
}
