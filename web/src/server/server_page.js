/** Pages of the server: its charts, requests, state, and who may do what. */
import { useSignalEffect } from "@preact/signals";
import { html } from "../frame/html.js";
import { screen } from "../frame/screen.js";
import { WhoCanPage } from "../rights/who_can_page.js";
import { t } from "../texts/catalogue.js";
import { ChartsPage } from "./charts_page.js";
import { RequestsPage } from "./requests_page.js";
import { ServerLinks } from "./server_links.js";
import { StatePage } from "./state_page.js";

/** @type {Record<string, any>} */
const PAGES = { charts: ChartsPage, requests: RequestsPage, state: StatePage, "who-can": WhoCanPage };
/** @type {Record<string, string>} */
const COMMANDS = {
  charts: "kubectl get --raw /metrics",
  requests: "kubectl get --raw /debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1",
  state: "kubectl get leases --all-namespaces",
  "who-can": "kubectl get clusterrolebindings,rolebindings --all-namespaces -o wide",
};

/** @param {{ page: string }} props */
export function ServerPage({ page }) {
  const View = PAGES[page];
  useSignalEffect(() => {
    screen.value = { title: t(`server.page.${page}`), command: COMMANDS[page] };
  });
  return html`<section class="server" aria-labelledby="page-title">
    <header class="toolbar"><div class="title-line"><h1 id="page-title">${t("server.title")}</h1></div>
      <${ServerLinks} current=${page} /></header>
    <div class="home-scroll" tabindex="0" role="region" aria-label=${t(`server.page.${page}`)}><${View} key=${page} /></div>
  </section>`;
}
