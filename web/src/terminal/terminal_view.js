/** Terminals of a Pod: one tab for each. Container and command are in the address. */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { CopyButton } from "../frame/copy.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty } from "../frame/states.js";
import { ActionButton } from "../rights/action_button.js";
import { query, setQuery } from "../routes/location.js";
import { t } from "../texts/catalogue.js";
import { wordsOf } from "./exec_socket.js";
import { TERMINALS_MAX, openTerminal, terminals } from "./terminals.js";

const SHELLS = ["sh", "bash"];

/** @param {import("../details/tabs.js").TabProps} props */
export function TerminalView({ kind, object, deleted }) {
  const { uid, name, namespace } = object.metadata;
  const own = terminals.value.filter((each) => each.uid === uid);
  const active = useSignal(own.at(-1)?.id ?? 0);
  const shown = own.find((each) => each.id === active.value) ?? own.at(-1);
  const containers = containersOf(object);
  const parameters = query.value;
  const container = containers.includes(parameters.get("container") ?? "") ? String(parameters.get("container")) : containers[0];
  const command = parameters.get("command") || "sh";
  const reader = parameters.get("reader") === "1";
  const isFull = terminals.value.length >= TERMINALS_MAX;
  const isRunning = object.status?.phase === "Running" && !object.metadata.deletionTimestamp && !deleted;
  const open = (text = command) => {
    if (!isRunning || isFull) return;
    const words = wordsOf(text);
    const made = words.length ? openTerminal(uid, { namespace, pod: name, container, command: words }) : null;
    if (made) active.value = made.id;
  };
  const action = { kind, namespace, name, verb: "create", subresource: "exec" };
  return html`<section class="terminal" aria-label=${t("detail.tab.terminal")}>
    ${!deleted && html`<div class="log-bar" id="terminal-bar">
      ${containers.length > 1 && html`<select class="log-select" aria-label=${t("terminal.container")} value=${container} onChange=${(/** @type {any} */ event) => setQuery({ container: event.target.value })}>
        ${containers.map((each) => html`<option key=${each} value=${each} translate=${false}>${each}</option>`)}</select>`}
      <${CommandChoice} command=${command} onOpen=${open} />
      <${ActionButton} action=${action} precise icon="plus" class=${isRunning && !isFull ? "button primary" : "button"} onPress=${() => open()}>${t("terminal.open")}<//>
      ${isFull && html`<span class="hint warn" role="status">${t("terminal.full", { count: TERMINALS_MAX })}</span>`}
      <div class="spacer" />
      <button type="button" class="toggle" aria-pressed=${reader} title=${t("terminal.reader_hint")} onClick=${() => setQuery({ reader: reader ? "" : "1" })}><${Icon} name="user" />${t("terminal.reader")}</button>
    </div>`}
    ${own.length > 0 && html`<${Tabs} shells=${own} shown=${shown} onChoose=${(/** @type {number} */ id) => (active.value = id)} />`}
    ${shown ? html`<${Screen} key=${shown.id} shell=${shown} reader=${reader} possible=${isRunning} />`
      : isRunning ? html`<${Empty} icon="terminal" title=${t("terminal.none")} hint=${t("terminal.none_hint")} />`
        : html`<${Empty} icon="terminal" title=${t("terminal.not_running")} hint=${t("terminal.not_running_hint")} />`}
  </section>`;
}

/**
 * Return the names of the containers in which commands may run.
 * @param {any} pod
 * @returns {string[]}
 */
function containersOf(pod) {
  return [...(pod.spec?.containers ?? []), ...(pod.spec?.ephemeralContainers ?? [])].map((each) => each.name);
}

/** @param {{ command: string, onOpen: (command: string) => void }} props */
function CommandChoice({ command, onOpen }) {
  const own = useSignal(!SHELLS.includes(command));
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const chosen = (/** @type {any} */ event) => {
    own.value = event.target.value === "";
    if (!own.value) setQuery({ command: event.target.value === "sh" ? "" : event.target.value });
    else setTimeout(() => input.current?.focus());
  };
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter") return;
    const text = input.current?.value.trim() ?? "";
    setQuery({ command: text });
    onOpen(text);
  };
  return html`<select class="log-select" aria-label=${t("terminal.command")} value=${own.value ? "" : command} onChange=${chosen}>
      ${SHELLS.map((each) => html`<option key=${each} value=${each} translate=${false}>${each}</option>`)}<option value="">${t("terminal.own")}</option></select>
    ${own.value && html`<input ref=${input} type="text" class="terminal-command" aria-label=${t("terminal.own_label")} spellcheck=${false} autocomplete="off"
      value=${SHELLS.includes(command) ? "" : command} onKeyDown=${keyed} onChange=${() => setQuery({ command: input.current?.value.trim() ?? "" })} />`}`;
}

/** @param {{ shells: import("./terminals.js").Shell[], shown: import("./terminals.js").Shell | undefined, onChoose: (id: number) => void }} props */
function Tabs({ shells, shown, onChoose }) {
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step || !shown) return;
    event.stopPropagation();
    const next = shells[(shells.indexOf(shown) + step + shells.length) % shells.length];
    onChoose(next.id);
    document.getElementById(`terminal-${next.id}`)?.focus();
  };
  return html`<div class="terminal-tabs">
    <div role="tablist" aria-label=${t("terminal.tabs")} onKeyDown=${keyed}>
      ${shells.map((shell, i) => html`<button type="button" role="tab" key=${shell.id} id=${`terminal-${shell.id}`} aria-selected=${shell === shown} tabindex=${shell === shown ? 0 : -1}
        aria-controls="terminal-screen" class=${shell.state.value} onClick=${() => onChoose(shell.id)}>
        <${Icon} name=${shell.state.value === "open" ? "terminal" : shell.state.value === "connecting" ? "progress" : "close"} />
        <span translate=${false}>${i + 1} ${shell.target.container}: ${shell.target.command.join(" ").slice(0, 40)}</span></button>`)}
    </div>
    <div class="spacer" />
    ${shown && html`<${CopyButton} iconOnly text=${() => shown.pane?.terminal.getSelection() ?? ""} label=${t("terminal.copy")} />
      <button type="button" class="icon-button small" aria-label=${t("terminal.close")} title=${t("terminal.close")} onClick=${() => shown.close()}><${Icon} name="close" /></button>`}
  </div>`;
}

/** @param {{ shell: import("./terminals.js").Shell, reader: boolean, possible: boolean }} props `possible`: whether the Pod still runs */
function Screen({ shell, reader, possible }) {
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    shell.onLeave = () => document.getElementById(`terminal-${shell.id}`)?.focus();
    shell.attach(/** @type {HTMLDivElement} */ (host.current), reader);
  }, []);
  useEffect(() => shell.pane?.read(reader), [reader]);
  const state = shell.state.value;
  const over = state === "ended" || state === "lost";
  return html`<div class="terminal-frame" id="terminal-screen" role="tabpanel" aria-labelledby=${`terminal-${shell.id}`}>
    <div class="terminal-host" ref=${host} translate=${false} />
    ${over && html`<${Over} shell=${shell} state=${state} possible=${possible} />`}
    <p class="terminal-keys soft">${t("terminal.keys")}</p>
  </div>`;
}

/** @param {{ shell: import("./terminals.js").Shell, state: string, possible: boolean }} props */
function Over({ shell, state, possible }) {
  const again = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => again.current?.focus(), []);
  return html`<div class="terminal-over" role="alertdialog" aria-labelledby="terminal-over-title" aria-describedby="terminal-over-text">
    <h2 id="terminal-over-title"><${Icon} name=${state === "lost" ? "warn" : "check"} />${t(`terminal.${state}`)}</h2>
    <p id="terminal-over-text" translate=${state === "ended"}>${shell.message.value}</p>
    <div class="terminal-buttons">
      ${possible && html`<button type="button" class="button primary" ref=${again} onClick=${() => shell.connect()}><${Icon} name="restart" />${t(state === "lost" ? "terminal.reconnect" : "terminal.again")}</button>`}
      <button type="button" class="button" onClick=${() => shell.close()}>${t("app.close")}</button>
    </div>
  </div>`;
}
