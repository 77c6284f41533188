/** Bar at the top: the menu of a phone, the search, and the menu of the user. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { paletteOpen } from "../palette/palette.js";
import { momentText, showsPast } from "../past/moment.js";
import { enterPast, leave } from "../past/past_bar.js";
import { isPathAllowed } from "../rights/access.js";
import { homeAddress, serverAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { LANGUAGES, instantFormat, language, t, useLanguage } from "../texts/catalogue.js";
import { helpOpen } from "./help.js";
import { html } from "./html.js";
import { Icon, Logo } from "./icons.js";
import { reportError } from "./notices.js";
import { useOutside } from "./outside.js";
import { THEMES, theme, useTheme } from "./theme.js";
import { ViewAs } from "./view_as.js";

/** @param {{ menu: import("@preact/signals").Signal<boolean>, route: import("../routes/routes.js").Route }} props */
export function TopBar({ menu, route }) {
  return html`<header class="top">
    <button type="button" class="icon-button menu-button" aria-label=${t("app.menu")} aria-expanded=${menu.value} aria-controls="kinds"
      onClick=${() => (menu.value = !menu.value)}><${Icon} name=${menu.value ? "close" : "menu"} /></button>
    <a class="brand" href=${homeAddress()} aria-label=${`${t("app.name")}: ${t("app.home")}`}><${Logo} /><span>${t("app.name")}</span></a>
    <span class="context ellipsis" translate=${false}>${session.login.value?.server?.context}</span>
    <button type="button" class="search-button" onClick=${() => (paletteOpen.value = true)}>
      <${Icon} name="search" /><span>${t("palette.open")}</span><kbd translate=${false}>${/Mac|iPhone|iPad/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
    </button>
    ${showsPast(route.name) && html`<button type="button" class="icon-button past-button" aria-label=${t("past.enter")} title=${t("past.enter")} aria-pressed=${Boolean(momentText.value)} onClick=${() => (momentText.peek() ? leave() : enterPast())}>
      <${Icon} name="history" /></button>`}
    <button type="button" class="icon-button keys-button" aria-label=${t("keys.help")} title=${t("keys.help")} onClick=${() => (helpOpen.value = true)}>
      <${Icon} name="keys" /></button>
    <${UserMenu} />
  </header>`;
}

function UserMenu() {
  const open = useSignal(false);
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useOutside(root, open);
  const name = session.login.value?.user.username ?? "";
  return html`<div class="picker" ref=${root}>
    <button type="button" class="user-button" aria-haspopup="dialog" aria-expanded=${open.value} onClick=${() => (open.value = !open.value)}>
      <${Icon} name="user" /><span class="visually-hidden">${t("app.user")}:</span><span class="user-name ellipsis" translate=${false}>${name}</span>
    </button>
    ${open.value && html`<${UserPanel} onLeave=${() => (open.value = false)} />`}
  </div>`;
}

/** @param {{ onLeave: () => void }} props */
function UserPanel({ onLeave }) {
  const login = session.login.value;
  const maySee = useSignal(/** @type {boolean | undefined} */ (undefined));
  useEffect(() => {
    session.refresh().catch(() => {});
    isPathAllowed("/dashboard/sessions", "get").then((answer) => (maySee.value = answer), () => {});
  }, []);
  if (!login) return null;
  const groups = (login.user.groups ?? []).join(", ");
  const { expires, idleExpires } = login;
  return html`<div class="popover user-panel" role="dialog" aria-label=${t("app.user")}>
    <p class="user-full" translate=${false}>${login.user.username}</p>
    ${groups && html`<p class="soft small-text">${t("app.groups", { groups })}</p>`}
    ${expires && html`<p class="soft small-text">${t("app.expires", { time: instantFormat().format(Date.parse(expires)) })}</p>`}
    ${idleExpires && html`<p class="soft small-text">${t("app.idle", { time: instantFormat().format(Date.parse(idleExpires)) })}</p>`}
    <fieldset><legend>${t("theme.label")}</legend><div class="segments">
      ${THEMES.map((name) => html`<label key=${name}><input type="radio" name="theme" checked=${theme.value === name} onChange=${() => useTheme(name)} />
        <span>${t(`theme.${name}`)}</span></label>`)}
    </div></fieldset>
    <fieldset><legend>${t("language.label")}</legend><div class="segments">
      ${Object.entries(LANGUAGES).map(([tag, name]) => html`<label key=${tag}><input type="radio" name="language" checked=${language.value === tag}
        onChange=${() => useLanguage(tag, { keep: true })} /><span translate=${false} lang=${tag}>${name}</span></label>`)}
    </div></fieldset>
    <${ViewAs} onDone=${onLeave} />
    <${SessionsLink} maySee=${maySee.value} onLeave=${onLeave} />
    <button type="button" class="button wide-button" onClick=${() => session.leave().catch(reportError)}><${Icon} name="exit" />${t("app.logout")}</button>
    ${login.server?.version && html`<p class="soft small-text" translate=${false}>Sampan ${login.server.version}</p>`}
  </div>`;
}

/** @param {{ maySee: boolean | undefined, onLeave: () => void }} props */
function SessionsLink({ maySee, onLeave }) {
  const missing = maySee === false ? t("forbidden.needs", { verb: "get", resource: "/dashboard/sessions" }) : "";
  return html`<a class="button wide-button" role="link" href=${missing ? null : serverAddress("sessions")} aria-disabled=${missing ? "true" : null} aria-describedby=${missing ? "sessions-needs" : null}
    onClick=${() => missing || onLeave()}>
    <${Icon} name=${missing ? "lock" : "user"} />${t("app.sessions")}</a>
    ${missing && html`<p class="needs" id="sessions-needs">${missing}</p>`}`;
}
