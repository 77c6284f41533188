/** Overview: problems first, then what is new, recent warnings, and how many objects there are. */
import { useComputed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { screen } from "../frame/screen.js";
import { isBuiltIn, pluralTitle } from "../discovery/kinds.js";
import { Gone } from "../past/gone.js";
import { momentText } from "../past/moment.js";
import { Refused } from "../rights/refused.js";
import { listAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { numberFormat, t } from "../texts/catalogue.js";
import { now } from "../time/clock.js";
import { changesOf } from "./changes.js";
import { Changes } from "./changes_list.js";
import { HomeSource, countOf } from "./source.js";
import { Troubles } from "./troubles_list.js";
import { troublesOf } from "./troubles.js";
import { Warnings } from "./warnings.js";

const SHOWN = "pods deployments statefulsets daemonsets jobs cronjobs services ingresses configmaps secrets persistentvolumeclaims nodes namespaces".split(" ");
/** Read for the owners of other objects, without a tile. */
const BETWEEN = new Set(["replicasets"]);
/** Kinds without a state, and with contents that are large. */
const COUNTED_ONLY = new Set(["secrets"]);
const CUSTOM_MAX = 24;
const CHANGES_MAX = 8;
/** Time in milliseconds between two computations that depend on the time. */
const TICK_MS = 30_000;

export function HomePage() {
  useEffect(() => {
    screen.value = { title: t("home.title"), command: "" };
  }, []);
  if (!session.discovery.loaded.value) return html`<section class="home"><${Title} /></section>`;
  const { shown, between, custom } = kindsOfHome();
  const names = [...shown, ...between, ...custom].map((kind) => `${kind.plural}.${kind.group}`).join();
  return html`<${Content} key=${names} shown=${shown} between=${between} custom=${custom} />`;
}

function kindsOfHome() {
  const builtIn = session.discovery.kinds.value.filter((kind) => isBuiltIn(kind.group));
  const shown = SHOWN.flatMap((plural) => builtIn.filter((kind) => kind.plural === plural));
  const between = builtIn.filter((kind) => BETWEEN.has(kind.plural));
  const custom = session.discovery.sections.value.filter((section) => section.id === "custom").flatMap((section) => section.kinds);
  return { shown, between, custom: custom.slice(0, CUSTOM_MAX) };
}

/** @typedef {import("../discovery/kinds.js").Kind} Kind */

function Title() {
  return html`<header class="toolbar"><div class="title-line"><h1 id="page-title">${t("home.title")}</h1></div></header>`;
}

/** @param {{ shown: Kind[], between: Kind[], custom: Kind[] }} props */
function Content({ shown, between, custom }) {
  const source = useMemo(() => new HomeSource([...shown, ...between, ...custom]), []);
  useEffect(() => source.start(), []);
  const lists = useComputed(() => {
    source.version.value;
    return source.states.filter(({ kind }) => !COUNTED_ONLY.has(kind.plural)).map(({ kind, store }) => ({ kind, rows: [...store.rows.values()], columns: store.columns.peek() }));
  });
  const tick = useComputed(() => Math.floor(now.value / TICK_MS));
  const troubles = useComputed(() => troublesOf(lists.value, tick.value * TICK_MS));
  const changes = useComputed(() => changesOf(lists.value, CHANGES_MAX));
  const ready = useComputed(() => source.version.value > 0 && source.states.every((state) => countOf(state) !== undefined));
  const counts = useComputed(() => countsByKind(troubles.value));
  const tiles = (/** @type {Kind[]} */ kinds) => html`<ul class="tiles" role="list">${kinds.map((kind) => html`<${Tile} key=${kind.plural + kind.group} source=${source} kind=${kind}
    problems=${counts.value.get(kind) ?? 0} />`)}</ul>`;
  const refused = source.refused.value;
  if (refused) return html`<section class="home" aria-labelledby="page-title"><${Title} />${refused.code === 410 ? html`<${Gone} />` : html`<${Refused} error=${refused} />`}</section>`;
  return html`<section class="home" aria-labelledby="page-title"><${Title} />
    <div class="home-scroll">
      ${momentText.value && html`<p class="hint">${t("past.home")}</p>`}
      <${Troubles} troubles=${troubles.value} ready=${ready.value} partly=${source.states.some((state) => state.partly)} />
      <div class="home-columns">
        <section><h2>${t("home.changes")}</h2><${Changes} changes=${changes.value} ready=${ready.value} /></section>
        <section><h2>${t("home.warnings")}</h2><${Warnings} /></section>
      </div>
      <h2>${t("home.counts")}</h2>${tiles(shown)}
      ${custom.length > 0 && html`<h2>${t("home.custom")}</h2>${tiles(custom)}`}
    </div>
  </section>`;
}

/** @param {import("./troubles.js").Trouble[]} troubles */
function countsByKind(troubles) {
  /** @type {Map<Kind, number>} */
  const counts = new Map();
  const add = (/** @type {Kind} */ kind, /** @type {number} */ count) => counts.set(kind, (counts.get(kind) ?? 0) + count);
  for (const { kind, causes } of troubles) {
    add(kind, 1);
    for (const cause of causes) add(cause.kind, cause.count);
  }
  return counts;
}

/** @param {{ source: HomeSource, kind: Kind, problems: number }} props */
function Tile({ source, kind, problems }) {
  source.version.value;
  const state = source.states.find((each) => each.kind === kind);
  const count = state && countOf(state);
  const text = count === undefined ? "…" : count === null ? "–" : numberFormat.value.format(count);
  return html`<li><a class="tile" href=${listAddress(kind)}><span class="tile-count" translate=${false}>${text}</span>
    <span class="tile-kind ellipsis" translate=${false} title=${kind.group || null}>${pluralTitle(kind)}</span>
    ${problems > 0 && html`<span class="tile-problems"><${Icon} name="bad" />${t("home.tile_problems", { count: problems })}</span>`}</a></li>`;
}
