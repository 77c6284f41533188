/** Links between the pages of the server. */
import { html } from "../frame/html.js";
import { SERVER_PAGES, serverAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";

/** @param {{ current: string }} props */
export function ServerLinks({ current }) {
  const pages = [...SERVER_PAGES, "controllers", "sessions"];
  return html`<nav class="tabs" aria-label=${t("server.pages")}>${pages.map((page) => html`<a key=${page} class="tab" href=${serverAddress(page)} aria-current=${page === current ? "page" : null}>${t(`server.page.${page}`)}</a>`)}</nav>`;
}
