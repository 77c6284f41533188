/** Entries of the palette: kinds, objects, namespaces and actions. */
import { apiPath } from "../discovery/kinds.js";
import { screen } from "../frame/screen.js";
import { helpOpen } from "../frame/help_open.js";
import { keys } from "../frame/keys.js";
import { THEMES, useTheme } from "../frame/theme.js";
import { reportError } from "../frame/notices.js";
import { namespaceNames } from "../lists/namespaces.js";
import { readList } from "../past/read.js";
import { go, setQuery } from "../routes/location.js";
import { createAddress, homeAddress, listAddress, objectAddress, serverAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { TABLE } from "../table/reflector.js";
import { LANGUAGES, t, useLanguage } from "../texts/catalogue.js";
import { best, score } from "./score.js";

/**
 * @typedef {{ id: string, group: "kind" | "object" | "namespace" | "action" | "recent", title: string, detail: string,
 *   key?: string, data: boolean, run: () => void }} Entry
 * `data`: the title is a name, not a text of the page.
 */

const SHOWN_MAX = 9;
const OBJECTS_MAX = 30;

/**
 * Return how well a kind matches a word: short names and plurals count as much as its name.
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {string} word
 */
export function kindScore(kind, word) {
  if (kind.shortNames.includes(word) || kind.plural === word || kind.singular === word) return 1000;
  return Math.max(score(kind.kind, word), score(kind.plural, word) - 1, kind.categories.includes(word) ? 300 : 0);
}

/**
 * Return the kind that the first word names, if a second one follows.
 * @param {string} text
 */
export function scopeOf(text) {
  const [first, ...rest] = text.trim().toLowerCase().split(/\s+/);
  if (rest.length === 0) return null;
  const kind = best(session.discovery.kinds.value, (each) => kindScore(each, first), 1)[0];
  return kind && kindScore(kind, first) >= 500 ? { kind, rest: rest.join(" ") } : null;
}

/**
 * Return the entries for what the user has typed.
 * @param {string} text
 * @param {{ kind: import("../discovery/kinds.js").Kind, rows: any[] } | null} scoped objects of the kind that was named
 * @param {{ text: string, groups: import("./search.js").Found[] }} [found] objects of all kinds
 * @returns {Entry[]}
 */
export function entriesFor(text, scoped, found) {
  const wanted = text.trim().toLowerCase();
  const scope = scopeOf(text);
  if (scope) return scoped ? best(scoped.rows, (row) => score(row.name, scope.rest), OBJECTS_MAX).map((row) => objectEntry(scope.kind, row)) : [];
  // In the order of the menu, which matters without a word.
  const ordered = session.discovery.sections.value.flatMap((section) => section.kinds);
  const kinds = best(ordered, (kind) => kindScore(kind, wanted), SHOWN_MAX).map(kindEntry);
  const { kind, rows } = screen.value;
  const objects = wanted && kind && rows ? best(rows.value, (row) => score(row.metadata.name, wanted), SHOWN_MAX) : [];
  const near = objects.map((row) => objectEntry(/** @type {any} */ (kind), row.metadata));
  const known = new Set(near.map((each) => each.id));
  return [
    ...kinds,
    ...near,
    ...(found?.text === wanted ? found.groups : []).flatMap((group) => groupEntries(group, wanted)).filter((each) => !known.has(each.id)),
    ...(wanted ? best(namespaceNames.value ?? [], (name) => score(name, wanted), 4).map(namespaceEntry) : []),
    ...best(actions(), (entry) => score(entry.title, wanted), SHOWN_MAX),
  ];
}

/**
 * Read the names of the objects of a kind.
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {AbortSignal} stop
 * @param {string} [namespace] empty for all namespaces
 */
export async function namesOf(kind, stop, namespace = "") {
  const table = await readList(apiPath(kind, namespace), { limit: "1000" }, { accept: TABLE, signal: stop });
  return (table.rows ?? []).map((/** @type {any} */ row) => row.object.metadata);
}

/** @param {import("../discovery/kinds.js").Kind} kind @returns {Entry} */
function kindEntry(kind) {
  return {
    id: `kind ${kind.plural}.${kind.group}`, group: "kind", title: kind.kind, data: true,
    detail: [kind.group, ...kind.shortNames].filter(Boolean).join(" · "), run: () => go(listAddress(kind)),
  };
}

/** @param {import("../discovery/kinds.js").Kind} kind @param {any} metadata @returns {Entry} */
function objectEntry(kind, metadata) {
  return {
    id: `object ${kind.plural} ${metadata.namespace} ${metadata.name}`, group: "object", title: metadata.name, data: true,
    detail: [kind.kind, metadata.namespace].filter(Boolean).join(" · "),
    run: () => go(objectAddress(kind, metadata.namespace ?? "", metadata.name)),
  };
}

/** @param {import("./search.js").Found} found @param {string} wanted @returns {Entry[]} */
function groupEntries({ kind, objects, more }, wanted) {
  const all = { ...kindEntry(kind), id: `more ${kind.plural}.${kind.group}`, detail: t("palette.more", { count: more }), run: () => go(listAddress(kind, { q: wanted })) };
  return [...objects.map((each) => objectEntry(kind, each)), ...(more ? [all] : [])];
}

/** @param {string} name @returns {Entry} */
function namespaceEntry(name) {
  return { id: `namespace ${name}`, group: "namespace", title: name, data: true, detail: "", run: () => setQuery({ ns: name }) };
}

/** @returns {Entry[]} */
function actions() {
  const action = (/** @type {string} */ id, /** @type {string} */ title, /** @type {() => void} */ run, /** @type {string | undefined} */ key = undefined) =>
    /** @type {Entry} */ ({ id, group: "action", title, detail: "", key, data: false, run });
  return [
    action("home", t("app.home"), () => go(homeAddress())),
    action("controllers", t("controllers.title"), () => go(serverAddress("controllers"))),
    action("create", t("create.from_yaml"), () => go(createAddress(null))),
    action("help", t("keys.help"), () => (helpOpen.value = true), keys.value.help),
    ...THEMES.map((name) => action(`theme ${name}`, `${t("theme.label")}: ${t(`theme.${name}`)}`, () => useTheme(name))),
    ...Object.entries(LANGUAGES).map(([tag, name]) => action(`language ${tag}`, `${t("language.label")}: ${name}`, () => useLanguage(tag, { keep: true }))),
    action("logout", t("app.logout"), () => session.leave().catch(reportError)),
  ];
}
