/** Tools of the logs: Pods, container, filter, level, since, options, download. Each choice goes into the address. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { useFilterText } from "../frame/filter_text.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { report } from "../frame/notices.js";
import { useOutside } from "../frame/outside.js";
import { save } from "../frame/save.js";
import { setQuery } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { safeMessage } from "../transport/errors.js";
import { shownLines, wholeLogs } from "./download.js";
import { LEVELS } from "./line.js";
import { SINCE } from "./options.js";
import { PodPicker } from "./pod_picker.js";
import { containersOf } from "./sources.js";

/**
 * @typedef {{ streams: import("./streams.js").LogStreams, options: import("./options.js").Options, matcher: import("./matcher.js").Matcher,
 *   single: boolean, name: string }} ToolbarProps
 */

/** @param {ToolbarProps} props */
export function LogToolbar({ streams, options, matcher, single, name }) {
  const containers = [...new Set(streams.pods.value.flatMap(containersOf))];
  const levels = ["", ...LEVELS.slice(1)].map((each) => ({ value: each, text: t(`logs.level.${each || "all"}`) }));
  const since = Object.keys(SINCE).map((each) => ({ value: each === "tail" ? "" : each, text: t(`logs.since.${each}`) }));
  return html`<div class="log-bar" role="group" aria-label=${t("logs.tools")}>
    ${!single && html`<${PodPicker} streams=${streams} options=${options} />`}
    ${(containers.length > 1 || options.container) && html`<${Choice} label=${t("logs.container")} name="container" value=${options.container}
      options=${[{ value: "", text: t("logs.all_containers") }, ...containers.map((each) => ({ value: each, text: each }))]} />`}
    <${FilterBox} options=${options} matcher=${matcher} />
    <button type="button" class="toggle" aria-pressed=${options.only} aria-label=${t("logs.only")} title=${t("logs.only_hint")} onClick=${() => setQuery({ only: options.only ? "" : "1" })}><${Icon} name="filter" /><span class="log-word">${t("logs.only")}</span></button>
    <${Choice} label=${t("logs.level")} name="level" value=${options.level} options=${levels} />
    <${Choice} label=${t("logs.since")} name="since" value=${options.since === "tail" ? "" : options.since} options=${since} />
    <${OptionsMenu} options=${options} />
    <${DownloadMenu} streams=${streams} options=${options} name=${name} />
  </div>`;
}

/** @param {{ label: string, name: string, value: string, options: { value: string, text: string }[] }} props */
function Choice({ label, name, value, options }) {
  const changed = (/** @type {Event} */ event) => setQuery({ [name]: /** @type {HTMLSelectElement} */ (event.target).value });
  return html`<select class="log-select" aria-label=${label} title=${label} value=${value} onChange=${changed}>
    ${options.map((each) => html`<option key=${each.value} value=${each.value} translate=${name !== "container" || each.value === ""}>${each.text}</option>`)}</select>`;
}

/** @param {{ options: import("./options.js").Options, matcher: import("./matcher.js").Matcher }} props */
function FilterBox({ options, matcher }) {
  const field = useFilterText(options.text, { exact: true });
  return html`<div class="filter-box log-filter">
    <${Icon} name="search" />
    <input ...${field} aria-label=${t("logs.filter")} aria-invalid=${matcher.error !== ""}
      aria-describedby=${matcher.error ? "log-filter-error" : null} placeholder=${t("logs.filter_placeholder")} />
    ${matcher.error && html`<p class="popover log-error" id="log-filter-error" role="alert">${t(matcher.error, { text: options.text })}</p>`}
  </div>`;
}

/** @type {["times" | "wrap" | "colours" | "previous", string, string][]} */
const SWITCHES = [["times", "1", ""], ["wrap", "", "0"], ["colours", "", "0"], ["previous", "1", ""]];

/** @param {{ options: import("./options.js").Options }} props */
function OptionsMenu({ options }) {
  const open = useSignal(false);
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useOutside(root, open);
  return html`<div class="picker" ref=${root}>
    <button type="button" class="toggle" aria-haspopup="dialog" aria-label=${t("logs.options")} aria-expanded=${open.value} onClick=${() => (open.value = !open.value)}><${Icon} name="options" />
      <span class="log-word">${t("logs.options")}</span><${Icon} name="down" /></button>
    ${open.value && html`<div class="popover choices log-menu" role="dialog" aria-label=${t("logs.options")}>
      ${SWITCHES.map(([name, on, off]) => html`<label class="choice" key=${name}><input type="checkbox" checked=${options[name]} onChange=${() => setQuery({ [name]: options[name] ? off : on })} />
        <span>${t(`logs.option.${name}`)}</span></label>`)}
    </div>`}
  </div>`;
}

/** @param {{ streams: import("./streams.js").LogStreams, options: import("./options.js").Options, name: string }} props */
function DownloadMenu({ streams, options, name }) {
  const open = useSignal(false);
  const busy = useSignal(false);
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useOutside(root, open);
  const all = async () => {
    open.value = false;
    busy.value = true;
    try {
      save(await wholeLogs(streams, streams.stop.signal), name, "log");
    } catch (error) {
      report({ title: t("logs.download_failed"), message: safeMessage(/** @type {Error} */ (error).message), causes: [] });
    } finally {
      busy.value = false;
    }
  };
  const shown = () => {
    open.value = false;
    save(shownLines(streams, options.times), name, "log");
  };
  return html`<div class="picker log-end" ref=${root}>
    <button type="button" class="toggle" aria-haspopup="menu" aria-label=${t("logs.download")} aria-expanded=${open.value} disabled=${busy.value} onClick=${() => (open.value = !open.value)}><${Icon} name="download" />
      <span class="log-word">${t(busy.value ? "logs.downloading" : "logs.download")}</span></button>
    ${open.value && html`<div class="popover choices log-menu right" role="menu">
      <button type="button" role="menuitem" class="choice" onClick=${all}>${t("logs.download_all")}</button>
      <button type="button" role="menuitem" class="choice" onClick=${shown}>${t("logs.download_shown")}</button>
    </div>`}
  </div>`;
}
