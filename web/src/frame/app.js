/** The whole page: login, or the frame with the page of the route. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ListPage } from "../lists/list_page.js";
import { HomePage } from "../home/home_page.js";
import { momentText } from "../past/moment.js";
import { ReadOnly } from "../past/not_past.js";
import { PastBar } from "../past/past_bar.js";
import { Palette, paletteOpen } from "../palette/palette.js";
import { address } from "../routes/location.js";
import { routeOf } from "../routes/routes.js";
import { Login } from "../session/login.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { ConnectionBar } from "./connection_bar.js";
import { Help, helpOpen } from "./help.js";
import { html } from "./html.js";
import { Lazy } from "./lazy.js";
import { Navigation } from "./navigation.js";
import { Notices } from "./notices.js";
import { screen } from "./screen.js";
import { Empty, Loading } from "./states.js";
import { TopBar } from "./top_bar.js";
import { ViewedAs } from "./view_as.js";

const loadDetails = () => import("../details/object_page.js").then((module) => module.ObjectPage);
const loadCreate = () => import("../edit/create_page.js").then((module) => module.CreatePage);
const loadEditor = () => import("../edit/edit_page.js").then((module) => module.EditPage);
const loadCompare = () => import("./lazy_parts.js").then((module) => module.ComparePage);
const loadDeleted = () => import("./lazy_parts.js").then((module) => module.DeletedPage);
const loadKind = () => import("./lazy_parts.js").then((module) => module.KindPage);
const loadServer = () => import("./lazy_parts.js").then((module) => module.ServerPage);
const loadControllers = () => import("./lazy_parts.js").then((module) => module.ControllersPage);
const loadSessions = () => import("./lazy_parts.js").then((module) => module.SessionsPage);

export function App() {
  const state = session.state.value;
  useSignalEffect(() => {
    const title = session.state.value === "in" ? screen.value.title : t("login.title");
    document.title = title ? `${title} · ${t("app.name")}` : t("app.name");
  });
  if (state === "unknown") return html`<main class="login-page"><${Loading} /></main>`;
  if (state !== "in") return html`<${Login} />`;
  // As another user, everything is read again.
  return html`<${Frame} key=${JSON.stringify(session.viewedAs.value)} />`;
}

function Frame() {
  const menu = useSignal(false);
  const route = useComputed(() => routeOf(address.value));
  const path = useComputed(() => `${address.value.split("?")[0]} ${momentText.value}`);
  useEffect(() => {
    menu.value = false;
  }, [path.value]);
  return html`
    <a class="skip" href="#main">${t("app.skip")}</a>
    <${TopBar} menu=${menu} route=${route.value} />
    <${ConnectionBar} />
    <${PastBar} route=${route.value} />
    <${ViewedAs} />
    <div class="body">
      <${Navigation} open=${menu} />
      <main id="main" tabindex="-1"><${Page} route=${route.value} key=${path.value} /></main>
    </div>
    <${Notices} />
    ${paletteOpen.value && html`<${Palette} />`}
    ${helpOpen.value && html`<${Help} />`}
  `;
}

/** @param {{ route: import("../routes/routes.js").Route }} props */
function Page({ route }) {
  switch (route.name) {
    case "home":
    case "login":
      return html`<${HomePage} />`;
    case "list":
      return html`<${ListPage} route=${route} />`;
    case "object":
      return html`<${Lazy} load=${loadDetails} props=${{ route }} />`;
    case "create":
      if (momentText.value) return html`<${ReadOnly} />`;
      return html`<${Lazy} load=${loadCreate} props=${{ route }} />`;
    case "edit":
      if (momentText.value) return html`<${ReadOnly} />`;
      return html`<${Lazy} load=${loadEditor} props=${{ route }} />`;
    case "compare":
      return html`<${Lazy} load=${loadCompare} props=${{ route }} />`;
    case "deleted":
      return html`<${Lazy} load=${loadDeleted} props=${{ route }} />`;
    case "kind":
      return html`<${Lazy} load=${loadKind} props=${{ route }} />`;
    case "server":
      return html`<${Lazy} load=${loadServer} props=${{ page: route.page }} />`;
    case "controllers":
      return html`<${Lazy} load=${loadControllers} props=${{}} />`;
    case "sessions":
      return html`<${Lazy} load=${loadSessions} props=${{}} />`;
    default:
      return html`<${Empty} whole icon="box" title=${t("app.not_found")} hint=${t("app.not_found_hint")} />`;
  }
}
