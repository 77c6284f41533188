/** The chosen revision next to another one: who made it, what it is compared with, and the lines that differ. */
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { query, setQuery } from "../routes/location.js";
import { instantFormat, t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { DifferenceTable } from "./difference_table.js";

const VALUE_MAX = 120;
const FIELDS_MAX = 6;
/** Revisions that the menu offers; others are chosen in the list with Shift. */
const CHOICES_MAX = 200;

/**
 * @typedef {import("./revisions.js").Revision} Revision
 * @param {{ revisions: Revision[], chosen: Revision, other: Revision | undefined, status: boolean, onBack: () => void, children?: any }} props
 * `other`: undefined compares with the state before. `children`: what can be done with the revision.
 */
export function ComparisonPane({ revisions, chosen, other, status, onBack, children }) {
  const split = query.value.get("view") === "split";
  const before = other ? other.object : chosen.before;
  const swapped = other && Number(other.revision) > Number(chosen.revision);
  const [from, to] = swapped ? [chosen.object, before] : [before, chosen.object];
  return html`<section class="comparison" aria-labelledby="comparison-title">
    <header class="comparison-head">
      <button type="button" class="button quiet small-button comparison-back" onClick=${onBack}><${Icon} name="back" />${t("history.all")}</button>
      <div class="comparison-title"><h2 id="comparison-title">${titleOf(chosen)}</h2><p class="soft small-text"><${By} revision=${chosen} /></p></div>
      <div class="spacer" /><div class="comparison-actions">${children}</div>
    </header>
    <div class="comparison-bar">
      <label class="comparison-with"><span>${t("history.compare")}</span><${Choice} revisions=${revisions} chosen=${chosen} other=${other} /></label>
      <div class="spacer" />
      <button type="button" class="toggle small-button split-toggle" aria-pressed=${split} onClick=${() => setQuery({ view: split ? "" : "split" })}><${Icon} name="columns" />${t("history.split")}</button>
    </div>
    ${!other && chosen.type === "MODIFIED" && chosen.fields.length > 0 && html`<${Fields} fields=${chosen.fields} status=${status} />`}
    ${!other && !chosen.known ? html`<p class="difference-none soft">${t("history.unknown_before")}</p>`
      : chosen.type === "DELETED" && !other ? html`<p class="difference-none soft">${t("history.last_state")}</p><${DifferenceTable} before=${null} after=${chosen.object} status=${status} split=${false} label=${t("history.lines")} />`
      : html`<${DifferenceTable} before=${from} after=${to} status=${status} split=${split} label=${t("history.lines")} />`}
  </section>`;
}

/** @param {{ revisions: Revision[], chosen: Revision, other: Revision | undefined }} props */
function Choice({ revisions, chosen, other }) {
  const changed = (/** @type {any} */ event) => setQuery({ with: event.target.value });
  const near = revisions.slice(0, CHOICES_MAX).filter((each) => each !== chosen);
  const shown = other && !near.includes(other) ? [...near, other] : near;
  return html`<select class="select" value=${other?.revision ?? ""} onChange=${changed}>
    <option value="">${t("history.before")}</option>
    ${shown.map((each) => html`<option key=${each.revision} value=${each.revision} translate=${false}>${optionOf(each)}</option>`)}
  </select>`;
}

/** @param {Revision} revision */
function optionOf({ revision, time, actor }) {
  return [revision, time && instantFormat().format(Date.parse(time)), visible(actor.manager)].filter(Boolean).join(" · ");
}

/** @param {Revision} revision */
export function titleOf({ type, revision, time }) {
  const name = t(type === "ADDED" ? "history.created" : type === "DELETED" ? "history.deleted" : "history.changed");
  return html`${name} <span class="soft revision-number">${time ? html`<span translate=${false}>${instantFormat().format(Date.parse(time))}</span>` : t("history.revision", { revision })}</span>`;
}

/** @param {{ revision: Revision }} props */
function By({ revision: { revision, actor } }) {
  const { manager, operation, subresource, user } = actor;
  const parts = [manager, operation, subresource && `/${subresource}`].filter(Boolean).join(" ");
  return html`${parts && html`<span translate=${false}>${visible(parts)}</span> · `}${user && user !== manager && html`<span>${t("history.user")} </span><span translate=${false}>${visible(user)}</span> · `}<span>${t("history.revision", { revision })}</span>`;
}

/** @param {{ fields: import("./changed_fields.js").Field[], status: boolean }} props */
function Fields({ fields, status }) {
  const shown = fields.filter(({ path }) => status || !path.startsWith("status"));
  if (shown.length === 0) return null;
  return html`<ul class="comparison-fields" role="list" aria-label=${t("history.fields")}>${shown.slice(0, FIELDS_MAX).map(({ path }) => html`<li key=${path}><code translate=${false}>${visible(path)}</code></li>`)}
    ${shown.length > FIELDS_MAX && html`<li class="soft">${t("history.more_fields", { count: shown.length - FIELDS_MAX })}</li>`}</ul>`;
}

/** @param {unknown} value */
export function valueText(value) {
  if (value === undefined) return "–";
  const text = visible(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
}
