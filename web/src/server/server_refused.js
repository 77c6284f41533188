/** What the page shows instead of a part of the server that the user may not read, or that it does not have. */
import { html } from "../frame/html.js";
import { Empty } from "../frame/states.js";
import { Refused } from "../rights/refused.js";
import { t } from "../texts/catalogue.js";

/** @param {{ error: any, path: string }} props */
export function ServerRefused({ error, path }) {
  if (error.code === 403) return html`<${Empty} icon="lock" title=${t("server.forbidden")} hint=${t("server.forbidden_hint", { path })} />`;
  if (error.code === 404) return html`<${Empty} icon="box" title=${t("server.absent")} hint=${t("server.absent_hint", { path })} />`;
  return html`<${Refused} error=${error} />`;
}
