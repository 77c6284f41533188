/** Links between the pages of the server. */
import { html } from "../frame/html.js";
import { CONTROLLERS, SERVER_PAGES, SESSIONS, serverAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";

/** @param {{ current: string }} props */
export function ServerLinks({ current }) {
  const links = [...SERVER_PAGES.map((page) => ({ page, address: serverAddress(page) })), { page: "controllers", address: CONTROLLERS }, { page: "sessions", address: SESSIONS }];
  return html`<nav class="tabs" aria-label=${t("server.pages")}>${links.map(({ page, address }) => html`<a key=${page} class="tab" href=${address} aria-current=${page === current ? "page" : null}>${t(`server.page.${page}`)}</a>`)}</nav>`;
}
