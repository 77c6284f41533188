/** Login page. It offers the ways that the server offers. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon, Logo } from "../frame/icons.js";
import { NoticeBody, noticeOf } from "../frame/notices.js";
import { BASE, address, go } from "../routes/location.js";
import { StatusError } from "../transport/errors.js";
import { t } from "../texts/catalogue.js";
import { session } from "./session.js";

const PATH = `${BASE}login`;
const RETRY_MS = 3000;

export function Login() {
  const failed = useSignal(/** @type {unknown} */ (null));
  const busy = useSignal(false);
  /** Text for a refusal: which credential is not valid. */
  const why = useSignal("");
  const link = useSignal(takeLink());
  const enter = async (/** @type {Parameters<typeof session.enter>[0]} */ credential) => {
    busy.value = true;
    failed.value = null;
    why.value = "link" in credential ? "login.used_link" : "token" in credential ? "login.unknown_token" : "";
    try {
      await session.enter(credential);
      if (address.peek().startsWith(PATH)) go(BASE, { replace: true });
    } catch (error) {
      failed.value = error;
    }
    busy.value = false;
  };
  useEffect(() => {
    if (link.value) enter({ link: link.value }).then(() => (link.value = ""));
  }, []);
  useEffect(() => {
    if (session.state.value !== "unreachable") return undefined;
    const timer = setInterval(() => session.begin(), RETRY_MS);
    return () => clearInterval(timer);
  }, [session.state.value]);
  const ways = session.logins.value;
  return html`<main class="login-page" id="main">
    <div class="login">
      <div class="login-brand"><${Logo} /><span>${t("app.name")}</span></div>
      <h1>${t("login.title")}</h1>
      ${session.expired.value && html`<p class="hint warn" role="status">${t("login.expired")}</p>`}
      ${session.state.value === "unreachable" && html`<p class="hint warn" role="status"><${Icon} name="progress" />${t("login.unreachable")}</p>`}
      ${link.value ? html`<p role="status">${t("login.with_link")}</p>` : ways.includes("token") && html`<${TokenForm} busy=${busy.value} onToken=${(/** @type {string} */ token) => enter({ token })} />`}
      <${Failure} error=${failed.value} why=${why.value} />
      ${(ways.includes("oidc") || ways.includes("certificate")) && html`<div class="login-or"><span>${t("login.or")}</span></div>`}
      ${ways.includes("oidc") && html`<a class="button wide-button" href=${`${BASE}login/oidc?return=${encodeURIComponent(returnPath())}`}><${Icon} name="globe" />${t("login.oidc")}</a>`}
      ${ways.includes("certificate") && html`<button type="button" class="button wide-button" disabled=${busy.value} onClick=${() => enter({ certificate: true })}>
        <${Icon} name="lock" />${t("login.certificate")}</button>`}
      ${ways.includes("link") && html`<div class="login-note"><${Icon} name="link" /><p><strong>${t("login.link_title")}</strong> ${t("login.link_hint")}</p></div>`}
    </div>
  </main>`;
}

/** @param {{ error: unknown, why: string }} props */
function Failure({ error, why }) {
  if (!error) return null;
  const refused = error instanceof StatusError && error.code === 401;
  const notice = noticeOf(error);
  return html`<div class="notice static" role="alert"><${Icon} name="bad" />
    <${NoticeBody} notice=${refused ? { ...notice, title: t("login.failed"), message: why ? t(why) : notice.message } : notice} /></div>`;
}

/** @param {{ busy: boolean, onToken: (token: string) => void }} props */
function TokenForm({ busy, onToken }) {
  const shown = useSignal(false);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const token = String(new FormData(form).get("token") ?? "").trim();
    if (token) onToken(token);
  };
  return html`<form onSubmit=${submit}>
    <label for="token">${t("login.token")}</label>
    <div class="field">
      <input id="token" name="token" type=${shown.value ? "text" : "password"} autocomplete="off" spellcheck=${false} required aria-describedby="token-hint" />
      <button type="button" class="icon-button" aria-label=${t("login.show")} aria-pressed=${shown.value} onClick=${() => (shown.value = !shown.value)}><${Icon} name="eye" /></button>
    </div>
    <p class="soft small-text" id="token-hint">${t("login.token_hint")}</p>
    <button type="submit" class="button primary wide-button" disabled=${busy}>${t("login.submit")}</button>
  </form>`;
}

/** Return the code of a one-time link, and remove it from the address. */
function takeLink() {
  if (!location.pathname.startsWith(PATH) || location.hash.length < 2) return "";
  const code = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  return code;
}

function returnPath() {
  return address.peek().startsWith(PATH) ? BASE : address.peek();
}
