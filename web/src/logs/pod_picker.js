/** Choice of the Pods of which the logs are shown, with the state of each. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { useOutside } from "../frame/outside.js";
import { setQuery } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { PODS_MAX } from "./streams.js";

/** Pods in the list; a search finds the others. */
const LISTED_MAX = 200;

/** @param {{ streams: import("./streams.js").LogStreams, options: import("./options.js").Options }} props */
export function PodPicker({ streams, options }) {
  const open = useSignal(false);
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useOutside(root, open);
  const shown = new Set(streams.sources.value.filter((source) => source.state !== "gone").map((source) => source.pod));
  return html`<div class="picker" ref=${root}>
    <button type="button" class="toggle" aria-haspopup="dialog" aria-expanded=${open.value} onClick=${() => (open.value = !open.value)}>
      <${Icon} name="box" />${t("logs.pods", { count: shown.size })}<${Icon} name="down" /></button>
    ${open.value && html`<${Panel} streams=${streams} options=${options} />`}
  </div>`;
}

/** @param {{ streams: import("./streams.js").LogStreams, options: import("./options.js").Options }} props */
function Panel({ streams, options }) {
  const text = useSignal("");
  const sources = streams.sources.value;
  const present = streams.pods.value.map((pod) => String(pod.metadata.name));
  const names = [...new Set([...options.pods, ...present])].filter((name) => name.includes(text.value)).slice(0, LISTED_MAX);
  const chosen = options.pods;
  const full = chosen.length >= PODS_MAX;
  const toggle = (/** @type {string} */ name) =>
    setQuery({ pods: (chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]).join(",") });
  return html`<div class="popover choices" role="dialog" aria-label=${t("logs.choose_pods")}>
    ${present.length > 8 && html`<input type="search" aria-label=${t("logs.find_pod")} placeholder=${t("logs.find_pod")} value=${text.value}
      onInput=${(/** @type {any} */ event) => (text.value = event.target.value.trim())} />`}
    <div class="choice-list">
      <label class="choice"><input type="checkbox" checked=${chosen.length === 0} disabled=${chosen.length === 0} onChange=${() => setQuery({ pods: "" })} /><span>${t("logs.all_pods")}</span></label>
      ${names.map((name) => {
        const own = sources.filter((source) => source.pod === name);
        const problem = own.find((source) => source.problem)?.problem ?? "";
        return html`<label class="choice" key=${name}><input type="checkbox" checked=${chosen.includes(name)} disabled=${full && !chosen.includes(name)} onChange=${() => toggle(name)} />
          <span class="log-pod"><span class=${own.length ? `log-source s${own[0].colour}` : ""} translate=${false}>${name}</span>
            ${own.length > 0 && html`<span class="soft"> ${t(`logs.is.${own.some((each) => each.state === "live") ? "live" : own[0].state}`)}</span>`}
            ${problem && html`<span class="soft log-problem" translate=${false}>${problem}</span>`}</span></label>`;
      })}
    </div>
    ${(full || present.length > PODS_MAX) && html`<p class="hint">${t("logs.pods_max", { count: PODS_MAX })}</p>`}
  </div>`;
}
