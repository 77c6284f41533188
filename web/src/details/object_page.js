/** Page of one object of any kind: overview, YAML, events. It follows the object. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ActionsMenu } from "../actions/actions_menu.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { screen } from "../frame/screen.js";
import { Empty, Loading } from "../frame/states.js";
import { apiPath, pluralTitle } from "../discovery/kinds.js";
import { ActionButton } from "../rights/action_button.js";
import { Forbidden, Refused } from "../rights/refused.js";
import { address, go, query, withQuery } from "../routes/location.js";
import { deletedAddress, editAddress, listAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { Reflector } from "../table/reflector.js";
import { t } from "../texts/catalogue.js";
import { CommandsMenu } from "./commands_menu.js";
import { objectActions } from "./object_actions.js";
import { ObjectStore } from "./object_store.js";
import { objectLevel } from "./object_health.js";
import { Gone } from "../past/gone.js";
import { momentText } from "../past/moment.js";
import { PresentOnly } from "../past/not_past.js";
import { fullInstant, humanDuration } from "../time/age.js";
import { now } from "../time/clock.js";
import { Related } from "./related.js";
import { FIRST_TAB, tabsOf } from "./tabs.js";

/** @param {{ route: { group: string, version: string, plural: string, namespace: string, object: string } }} props */
export function ObjectPage({ route }) {
  const kind = session.discovery.find(route);
  if (!kind) return session.discovery.loaded.value ? html`<${Empty} whole icon="box" title=${t("app.not_found")} hint=${t("app.not_found_hint")} />` : html`<${Loading} />`;
  return html`<${KindObject} key=${`${kind.plural}.${kind.group}`} kind=${kind} namespace=${route.namespace} name=${route.object} />`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind, namespace: string, name: string }} props */
function KindObject({ kind, namespace, name }) {
  const store = useMemo(() => new ObjectStore(), []);
  const listed = useSignal(false);
  const refused = useSignal(/** @type {any} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    follow(kind, namespace, name, store, stop.signal, { listed, refused });
    return () => stop.abort();
  }, []);
  const present = useComputed(() => [...store.objects.value.values()][0] ?? null);
  const object = useComputed(() => present.value ?? [...store.deleted.value.values()].at(-1) ?? null);
  const related = useMemo(() => new Related(kind, namespace, object), []);
  useEffect(() => related.start(), []);
  const list = listAddress(kind, namespace ? { ns: namespace } : {});
  const left = useMemo(() => new Map(), []);
  useEffect(() => {
    objectActions.value = {
      tab: (each) => {
        openTab(left, each);
        document.getElementById("view")?.focus();
      },
      back: () => go(list),
      edit: () => !present.peek() || go(editAddress(kind, namespace, name)),
    };
    return () => {
      objectActions.value = null;
    };
  }, []);
  useSignalEffect(() => {
    screen.value = { title: `${name} · ${kind.kind}`, kind, command: "" };
  });
  if (refused.value?.code === 403) return html`<${Forbidden} whole error=${refused.value} kind=${kind} verb="get" namespace=${namespace} />`;
  if (refused.value?.code === 410 && momentText.value) return html`<${Gone} />`;
  if (refused.value && !object.value) return html`<${Refused} error=${refused.value} />`;
  if (!object.value && listed.value && !refused.value) {
    return html`<${Empty} whole icon="box" title=${t("detail.gone", { kind: kind.kind, name })} hint=${t(momentText.value ? "past.absent" : "detail.gone_hint")}>
      <a class="button" href=${list}>${t("detail.back", { kind: pluralTitle(kind) })}</a>
      <a class="button" href=${deletedAddress(kind, { ...(namespace ? { ns: namespace } : {}), q: name })}>${t("deleted.find")}</a><//>`;
  }
  if (!object.value) return html`<${Loading} />`;
  const deletedAt = present.value === null ? store.deletedAt.get(object.value.metadata.uid) ?? 0 : null;
  return html`<${Shown} kind=${kind} object=${object.value} deletedAt=${deletedAt} related=${related} list=${list} left=${left} />`;
}

/**
 * Go to a tab, as the user has left it. Back leads to the tab before.
 * @param {Map<string, string>} left addresses of the tabs that the user has left, by name
 * @param {string} name
 */
function openTab(left, name) {
  const current = query.peek().get("tab") || FIRST_TAB;
  if (name === current) return;
  left.set(current, address.peek());
  const [path] = address.peek().split("?");
  go(left.get(name) ?? withQuery(path, { at: query.peek().get("at") ?? "", tab: name === FIRST_TAB ? "" : name }));
}

/**
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {string} namespace
 * @param {string} name
 * @param {ObjectStore} store
 * @param {AbortSignal} stop
 * @param {{ listed: import("@preact/signals").Signal<boolean>, refused: import("@preact/signals").Signal<any> }} state
 */
function follow(kind, namespace, name, store, stop, { listed, refused }) {
  const finish = store.finish.bind(store);
  store.finish = () => {
    finish();
    listed.value = true;
  };
  const options = {
    transport: session.transport,
    connection: session.connection,
    path: apiPath(kind, namespace),
    accept: "application/json",
    selectors: { fieldSelector: `metadata.name=${name}` },
    store,
    onRefused: async (/** @type {any} */ error) => {
      refused.value = error?.code === 403 ? await readAlone(kind, namespace, name, store, stop) : error;
    },
  };
  return new Reflector(options).run(stop);
}

/**
 * Read the object alone, for users who may not list its kind. Return why that failed, or null.
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {string} namespace
 * @param {string} name
 * @param {ObjectStore} store
 * @param {AbortSignal} stop
 */
async function readAlone(kind, namespace, name, store, stop) {
  const read = await session.transport.json(apiPath(kind, namespace, name), { signal: stop }).catch((error) => error);
  if (read instanceof Error && /** @type {any} */ (read).code !== 404) return read;
  store.begin();
  store.addPage("", { items: read instanceof Error ? [] : [read] });
  store.finish();
  return null;
}

/**
 * @param {{ kind: import("../discovery/kinds.js").Kind, object: any, deletedAt: number | null, related: Related, list: string, left: Map<string, string> }} props
 * `deletedAt`: when the page learned of the deletion; null for an object that exists
 */
function Shown({ kind, object, deletedAt, related, list, left }) {
  const deleted = deletedAt !== null;
  const tabs = tabsOf(kind, object, related, deleted);
  const tab = tabs.find((each) => each.name === query.value.get("tab")) ?? tabs[0];
  const choose = (/** @type {import("./tabs.js").Tab} */ each) => openTab(left, each.name);
  const props = { kind, object, related, deleted };
  const level = deleted ? "neutral" : objectLevel(object);
  const { name, namespace = "" } = object.metadata;
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    choose(next);
    document.getElementById(`tab-${next.name}`)?.focus();
  };
  return html`<article class="object" aria-labelledby="page-title">
    <header class="toolbar object-head">
      <a class="crumb" translate=${false} href=${list}><${Icon} name="back" />${pluralTitle(kind)}</a>
      <div class="title-line">
        <h1 id="page-title" translate=${false}>${name}</h1>
        ${level !== "neutral" && html`<span class=${`health pill ${level}`}><${Icon} name=${level} />${t(`health.${level}`)}</span>`}
        <div class="spacer" />
        ${!deleted && !momentText.value && html`<${ActionButton} action=${{ kind, namespace, name, verb: "patch" }} icon="edit" onPress=${() => go(editAddress(kind, namespace, name))}>${t("edit.title")}<//>`}
        ${!deleted && !momentText.value && html`<${ActionsMenu} kind=${kind} object=${object} />`}
        ${!deleted && !momentText.value && html`<${CommandsMenu} kind=${kind} namespace=${namespace} name=${name} />`}
      </div>
      ${deleted && html`<${Deleted} kind=${kind} namespace=${namespace} name=${name} at=${deletedAt} />`}
      <div class="tabs" role="tablist" aria-label=${t("detail.tabs")} onKeyDown=${keyed}>
        ${tabs.map((each) => html`<button type="button" role="tab" id=${`tab-${each.name}`} key=${each.name} aria-selected=${each === tab} aria-controls="view"
          tabindex=${each === tab ? 0 : -1} onClick=${() => choose(each)}>${t(`detail.tab.${each.name}`)}
          ${each.Badge && html`<${each.Badge} ...${props} />`}</button>`)}
      </div>
    </header>
    <div id="view" role="tabpanel" class="object-scroll" aria-labelledby=${`tab-${tab.name}`} tabindex="0"><${momentText.value && tab.present ? PresentOnly : tab.View} key=${tab.name} ...${props} /></div>
  </article>`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind, namespace: string, name: string, at: number }} props */
function Deleted({ kind, namespace, name, at }) {
  return html`<p class="banner"><${Icon} name="trash" /><strong role="status">${t("detail.deleted")}</strong>
    <time datetime=${new Date(at).toISOString()} title=${fullInstant(at)}>${t("detail.deleted_since", { time: humanDuration((now.value - at) / 1000) })}</time>
    <span>${t("detail.deleted_hint")}</span><a href=${deletedAddress(kind, { ...(namespace ? { ns: namespace } : {}), q: name })}>${t("deleted.find")}</a></p>`;
}
