/** One change of an object near a problem: who changed which fields, with a link to its history. */
import { isSecret } from "../details/secret.js";
import { html } from "../frame/html.js";
import { valueText } from "../history/comparison_pane.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { humanDuration } from "../time/age.js";
import { visible } from "../transport/errors.js";

const FIELDS_MAX = 4;

/** @param {{ subject: import("./subjects.js").Subject, parameters?: Record<string, string> }} props */
export function SubjectLink({ subject: { kind, namespace, name }, parameters = {} }) {
  return html`<a translate=${false} href=${objectAddress(kind, namespace, name, parameters)}>${kind.kind} ${visible(name)}</a>`;
}

/** @param {{ entry: import("./suspects.js").ChangeEntry, began?: number }} props */
export function Change({ entry: { subject, revision, at }, began }) {
  const { type, fields, actor } = revision;
  const shown = [...fields].sort((a, b) => Number(a.path.startsWith("status")) - Number(b.path.startsWith("status"))).slice(0, FIELDS_MAX);
  const title = type === "ADDED" ? "history.created" : type === "DELETED" ? "history.deleted" : "history.changed";
  return html`<div class="event-head"><strong>${t(title)}</strong> <${SubjectLink} subject=${subject} parameters=${{ tab: "history", rev: revision.revision }} />
      <span class="tag">${t(`incident.role.${subject.role}`)}</span>
      ${(actor.manager || actor.user) && html`<span class="soft">${t("incident.by")} <span translate=${false}>${visible(actor.manager || actor.user)}</span>${actor.user && actor.user !== actor.manager && html` (<span translate=${false}>${visible(actor.user)}</span>)`}</span>`}
      ${began !== undefined && html`<span class="soft">${t("incident.before", { time: humanDuration(Math.max(0, began - at) / 1000) })}</span>`}</div>
    ${shown.length > 0 && type === "MODIFIED" && html`<div class="differences"><dl>${shown.map(({ path, before, after }) => html`<div key=${path}><dt translate=${false}>${visible(path)}</dt>
      ${!isSecret(revision.object) && html`<dd translate=${false}><del>${valueText(before)}</del> <span aria-hidden="true">→</span> <ins>${valueText(after)}</ins></dd>`}</div>`)}</dl>
      ${fields.length > FIELDS_MAX && html`<p class="soft small-text">${t("history.more_fields", { count: fields.length - FIELDS_MAX })}</p>`}</div>`}`;
}
