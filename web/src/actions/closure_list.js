/** Objects that a deletion takes with it, counted by kind. */
import { pluralTitle } from "../discovery/kinds.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";

const NAMES_MAX = 200;

/** @param {{ closure: import("./closure.js").Closure | null, orphaned: boolean }} props */
export function ClosureList({ closure, orphaned }) {
  if (!closure) return html`<p class="hint" role="status">${t("delete.counting")}</p>`;
  const { members, unread, cut } = closure;
  /** @type {Map<import("../discovery/kinds.js").Kind, import("./closure.js").Member[]>} */
  const kinds = new Map();
  for (const each of members) kinds.set(each.kind, [...(kinds.get(each.kind) ?? []), each]);
  const title = members.length === 0 ? t("delete.alone") : t(orphaned ? "delete.stay" : cut ? "delete.at_least" : "delete.with", { count: members.length });
  return html`<div class="closure" role="status"><p>${title}</p>
    ${[...kinds].sort(([a], [b]) => a.kind.localeCompare(b.kind)).map(([kind, list]) => html`<details key=${kind.plural + kind.group}><summary><span translate=${false}>${pluralTitle(kind)}</span> <span class="count" translate=${false}>${list.length}</span></summary>
      <ul role="list">${list.slice(0, NAMES_MAX).map(({ metadata }) => html`<li key=${metadata.uid} translate=${false}>${metadata.name}</li>`)}
        ${list.length > NAMES_MAX && html`<li>${t("delete.more", { count: list.length - NAMES_MAX, kind: "" })}</li>`}</ul></details>`)}
    ${unread.length > 0 && html`<p class="hint warn"><${Icon} name="lock" /><span>${t("delete.unread")} <span translate=${false}>${unread.map(pluralTitle).join(", ")}</span></span></p>`}
  </div>`;
}
