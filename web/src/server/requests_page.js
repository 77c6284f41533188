/** Requests that the server executes now or lets wait, by priority level. */
import { useComputed } from "@preact/signals";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Loading } from "../frame/states.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { visible } from "../transport/errors.js";
import { levelsOf, requestsOf } from "./fairness.js";
import { ServerRefused } from "./server_refused.js";
import { usePolled } from "./polled.js";

const PREFIX = "/debug/api_priority_and_fairness/";
const AGAIN_MS = 2000;
const SHOWN_MAX = 100;
const COUNTS = /** @type {const} */ (["waiting", "executing", "dispatched", "rejected", "timedOut", "cancelled"]);

export function RequestsPage() {
  const dumps = usePolled(async (transport, signal) => {
    const [levels, requests] = await Promise.all(
      ["dump_priority_levels", "dump_requests?includeRequestDetails=1"].map((name) => transport.text(PREFIX + name, { signal })),
    );
    return { levels: levelsOf(levels), requests: requestsOf(requests) };
  }, AGAIN_MS);
  const requests = useComputed(() => dumps.value.found?.requests.filter(({ path }) => !path.startsWith(PREFIX)) ?? []);
  const { found, error } = dumps.value;
  if (!found) return error ? html`<${ServerRefused} error=${error} path=${`${PREFIX}dump_priority_levels`} />` : html`<${Loading} />`;
  return html`<p class="soft">${t("server.requests_hint")}</p>
    <h2>${t("server.levels")}</h2>
    <${Levels} levels=${found.levels} />
    <h2>${t("server.current", { count: requests.value.length })}</h2>
    <${Current} requests=${requests.value} />`;
}

/** @param {{ levels: import("./fairness.js").Level[] }} props */
function Levels({ levels }) {
  return html`<div class="table-frame" role="region" tabindex="0" aria-label=${t("server.levels")}><table class="plain numbers">
    <thead><tr><th scope="col">${t("server.level")}</th>${COUNTS.map((name) => html`<th scope="col" key=${name} class="number">${t(`server.level.${name}`)}</th>`)}</tr></thead>
    <tbody>${levels.map((level) => html`<tr key=${level.name}><th scope="row" translate=${false}>${visible(level.name)}</th>
      ${COUNTS.map((name) => html`<td key=${name} class="number" translate=${false}>${level[name] > 0 && (name === "waiting" || name === "rejected") ? html`<span class="health warn"><${Icon} name="warn" />${level[name]}</span>` : level[name]}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {{ requests: import("./fairness.js").Waiting[] }} props */
function Current({ requests }) {
  if (requests.length === 0) return html`<p class="none">${t("server.current_none")}</p>`;
  return html`<div class="table-frame" role="region" tabindex="0" aria-label=${t("server.current_list")}><table class="plain">
    <thead><tr>${["state", "user", "verb", "path", "level", "since"].map((name) => html`<th scope="col" key=${name}>${t(`server.request.${name}`)}</th>`)}</tr></thead>
    <tbody>${requests.slice(0, SHOWN_MAX).map((each, i) => html`<tr key=${i}>
      <td>${each.waits ? html`<span class="health warn"><${Icon} name="warn" />${t("server.waits")}</span>` : t("server.executes")}</td>
      <th scope="row" translate=${false}>${visible(each.user)}</th><td translate=${false}>${visible(each.verb)}</td>
      <td class="message" translate=${false}>${visible(each.path)}</td><td translate=${false}>${visible(each.level)}</td><td><${Age} at=${each.arrived} /></td></tr>`)}</tbody>
  </table></div>
  ${requests.length > SHOWN_MAX && html`<p class="soft">${t("server.more", { count: requests.length - SHOWN_MAX })}</p>`}`;
}
