/** Refusals: what the user may not do, and which role would permit it; other errors with all their causes. */
import { CopyButton } from "../frame/copy.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { NoticeBody, noticeOf } from "../frame/notices.js";
import { Empty } from "../frame/states.js";
import { resourceName } from "../discovery/kinds.js";
import { bindingCommand, roleFor } from "./roles.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";

/** @param {{ error: any, kind: import("../discovery/kinds.js").Kind, verb?: string, namespace?: string, whole?: boolean }} props */
export function Forbidden({ error, kind, verb = "list", namespace = error.namespace ?? "", whole = false }) {
  // The server names the role with the fewest rights; other servers do not.
  const cause = error.status.details?.causes?.find((/** @type {any} */ each) => each.reason === "ClusterRole");
  const role = cause?.message ?? roleFor(kind, verb);
  const title = t("forbidden.title", { verb, resource: resourceName(kind) });
  const where = namespace ? t("forbidden.where", { namespace }) : t("forbidden.cluster");
  const command = bindingCommand(role, session.login.value?.user.username ?? "USER", namespace);
  return html`<${Empty} whole=${whole} icon="lock" title=${`${title} ${where}`}>
    <div class="forbidden">
      <p>${t("forbidden.role", { role })}</p>
      <div class="command"><code translate=${false}>${command}</code><${CopyButton} iconOnly text=${() => command} label=${t("list.copy")} /></div>
      <p class="soft" translate=${false}>${error.status.message}</p>
    </div>
  <//>`;
}

/** @param {{ error: unknown }} props */
export function Refused({ error }) {
  return html`<div class="state"><div class="notice static" role="alert"><${Icon} name="bad" /><${NoticeBody} notice=${noticeOf(error)} /></div></div>`;
}
