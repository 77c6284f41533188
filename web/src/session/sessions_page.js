/** Page of the sessions of this server: who is logged in, since when, and with what. Administrators end sessions here. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pause } from "../discovery/discovery.js";
import { Dialog } from "../frame/dialog.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { reportError } from "../frame/notices.js";
import { screen } from "../frame/screen.js";
import { Empty, Loading } from "../frame/states.js";
import { isPathAllowed } from "../rights/access.js";
import { Refused } from "../rights/refused.js";
import { ServerLinks } from "../server/server_links.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { StatusError, visible } from "../transport/errors.js";
import { browserOf } from "./browser_name.js";
import { session } from "./session.js";

export const PATH = "/dashboard/sessions";
const AGAIN_MS = 5000;
/** Columns that a phone has no room for. */
const SECONDARY = new Set(["login", "browser", "address", "began", "ends"]);

/**
 * @typedef {{ id: string, user: string, login: string, began: string, lastUsed: string, expires: string, idleExpires: string,
 *   address: string, userAgent: string, current: boolean }} Listed
 */

export function SessionsPage() {
  const listed = useSignal(/** @type {Listed[] | null} */ (null));
  const refused = useSignal(/** @type {any} */ (null));
  const ending = useSignal(/** @type {Listed | null} */ (null));
  const mayEnd = useSignal(true);
  const read = async (/** @type {AbortSignal | undefined} */ signal = undefined) => {
    try {
      listed.value = (await session.transport.json(PATH, { signal })).items;
      refused.value = null;
    } catch (error) {
      if (error instanceof StatusError) refused.value = error;
    }
  };
  useEffect(() => {
    screen.value = { title: t("sessions.title"), command: "kubectl get --raw /dashboard/sessions" };
    const stop = new AbortController();
    isPathAllowed(`${PATH}/any`, "delete").then((answer) => (mayEnd.value = answer), () => {});
    const follow = async () => {
      while (!stop.signal.aborted) {
        if (!document.hidden || listed.peek() === null) await read(stop.signal);
        await pause(AGAIN_MS, stop.signal);
      }
    };
    follow();
    return () => stop.abort();
  }, []);
  if (refused.value?.code === 403) {
    return html`<${Empty} whole icon="lock" title=${t("sessions.forbidden")} hint=${t("sessions.forbidden_hint")} />`;
  }
  if (refused.value && !listed.value) return html`<${Refused} error=${refused.value} />`;
  if (!listed.value) return html`<${Loading} />`;
  const end = (/** @type {Listed} */ each) => session.transport.json(`${PATH}/${each.id}`, { method: "DELETE" }).then(() => read(), reportError);
  return html`<section class="server sessions" aria-labelledby="page-title">
    <header class="toolbar"><div class="title-line"><h1 id="page-title">${t("sessions.title")}</h1>
      <span class="count">${t("sessions.count", { count: listed.value.length })}</span></div><${ServerLinks} current="sessions" /></header>
    <div class="home-scroll"><p class="soft">${t("sessions.hint")}</p>
      <${Table} sessions=${listed.value} mayEnd=${mayEnd.value} onEnd=${(/** @type {Listed} */ each) => (ending.value = each)} /></div>
    ${ending.value && html`<${Confirm} each=${ending.value} onClose=${() => (ending.value = null)} onEnd=${end} />`}
  </section>`;
}

/** @param {{ sessions: Listed[], mayEnd: boolean, onEnd: (each: Listed) => void }} props */
function Table({ sessions, mayEnd, onEnd }) {
  const titles = ["user", "login", "browser", "address", "began", "last_used", "ends"];
  return html`<div class="table-frame" role="region" tabindex="0" aria-label=${t("sessions.list")}><table class="plain">
    <thead><tr>${titles.map((title) => html`<th scope="col" key=${title} class=${SECONDARY.has(title) ? "secondary" : null}>${t(`sessions.${title}`)}</th>`)}<th scope="col"><span class="visually-hidden">${t("sessions.end")}</span></th></tr></thead>
    <tbody>${sessions.map((each) => html`<tr key=${each.id}>
      <th scope="row" class="session-user"><span translate=${false}>${visible(each.user)}</span> ${each.current && html`<span class="pill progress">${t("sessions.current")}</span>`}</th>
      <td class="secondary">${t(`sessions.by_${each.login}`)}</td>
      <td class="secondary" translate=${false} title=${visible(each.userAgent)}>${visible(browserOf(each.userAgent))}</td>
      <td class="secondary" translate=${false}>${visible(each.address)}</td>
      <td class="secondary"><${Age} at=${each.began} /></td><td><${Age} at=${each.lastUsed} /></td>
      <td class="secondary"><${Until} at=${each.idleExpires} /></td>
      <td><button type="button" class="button quiet small-button" aria-disabled=${mayEnd ? null : "true"} title=${mayEnd ? null : t("forbidden.needs", { verb: "delete", resource: PATH })}
        aria-label=${t("sessions.end_of", { user: visible(each.user) })} onClick=${() => mayEnd && onEnd(each)}><${Icon} name=${mayEnd ? "exit" : "lock"} />${t("sessions.end")}</button></td>
    </tr>`)}</tbody></table></div>`;
}

/** @param {{ at: string }} props */
function Until({ at }) {
  const left = Math.max(0, Math.round((Date.parse(at) - Date.now()) / 60_000));
  return html`<time datetime=${at}>${t("sessions.minutes", { count: left })}</time>`;
}

/** @param {{ each: Listed, onClose: () => void, onEnd: (each: Listed) => void }} props */
function Confirm({ each, onClose, onEnd }) {
  const end = () => {
    onEnd(each);
    onClose();
  };
  return html`<${Dialog} label=${t("sessions.end_title")} onClose=${onClose}>
    <div class="dialog-head"><h2>${t("sessions.end_title")}</h2></div>
    <p><span translate=${false}>${visible(each.user)}</span> · <span translate=${false}>${visible(browserOf(each.userAgent))}</span></p>
    <p class="soft">${t(each.current ? "sessions.end_own" : "sessions.end_hint")}</p>
    <div class="dialog-buttons"><button type="button" class="button" onClick=${onClose}>${t("sessions.keep")}</button>
      <button type="button" class="button primary" onClick=${end}>${t("sessions.end")}</button></div>
  <//>`;
}
