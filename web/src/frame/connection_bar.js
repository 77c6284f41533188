/** Bar that reports interrupted watches: what is shown may be old. */
import { useSignalEffect } from "@preact/signals";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { humanDuration } from "../time/age.js";
import { present } from "../time/clock.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";

export function ConnectionBar() {
  const { state, since } = session.connection;
  useSignalEffect(() => {
    document.documentElement.classList.toggle("not-live", state.value !== "live");
  });
  if (state.value === "live") return html`<div role="status" class="visually-hidden">${t("connection.live")}</div>`;
  const time = humanDuration(Math.max(0, present.value - since.value) / 1000);
  return html`<div class=${`connection ${state.value}`} role="status">
    <${Icon} name=${state.value === "stale" ? "bad" : "progress"} /><span>${t(`connection.${state.value}`, { time })}</span>
  </div>`;
}
