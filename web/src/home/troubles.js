/** Troubles of a cluster: objects with problems, below the object that owns all of them. */
import { healthWith } from "../health/row_health.js";

/**
 * @typedef {import("../table/store.js").Row} Row
 * @typedef {import("../discovery/kinds.js").Kind} Kind
 * @typedef {{ kind: Kind, rows: Iterable<Row>, columns: import("../table/store.js").Column[] }} Listed
 * @typedef {{ kind: Kind, status: string, count: number, row: Row }} Cause
 * Owned objects of one kind with one status; `row` is the newest of them.
 * @typedef {{ kind: Kind, row: Row, level: "bad" | "warn", status: string, problem: import("../health/row_health.js").Problem | null,
 *   causes: Cause[], at: string }} Trouble
 */

/** Maximum number of owners above an object. */
const DEPTH_MAX = 8;

/**
 * Return the troubles: the worst and newest first.
 * @param {Listed[]} lists
 * @param {number} nowMs
 * @returns {Trouble[]}
 */
export function troublesOf(lists, nowMs) {
  const known = new Map(lists.flatMap(({ kind, rows }) => [...rows].map((row) => [row.uid, { kind, row }])));
  const sick = sickOf(lists, nowMs).map((each) => ({ ...each, owners: ownersOf(each.row, known) }));
  // What owns an object with a problem has it too; only the lowest and the highest one are shown.
  const between = new Set(sick.flatMap(({ owners }) => owners.slice(0, -1).map(({ row }) => row.uid)));
  /** @type {Map<string, Trouble>} */
  const found = new Map();
  for (const { kind, row, health, owners } of sick) {
    if (between.has(row.uid)) continue;
    const root = owners.at(-1) ?? { kind, row };
    const trouble = found.get(root.row.uid) ?? { ...root, level: "warn", status: "", problem: null, causes: [], at: "" };
    found.set(root.row.uid, trouble);
    if (health.level === "bad") trouble.level = "bad";
    const at = health.problem?.at ?? row.metadata.creationTimestamp ?? "";
    if (at > trouble.at) trouble.at = at;
    if (root.row === row) Object.assign(trouble, { status: health.text, problem: health.problem });
    else addCause(trouble.causes, kind, health.text, row);
  }
  return [...found.values()].sort((a, b) => Number(b.level === "bad") - Number(a.level === "bad") || b.at.localeCompare(a.at));
}

/**
 * @param {Listed[]} lists
 * @param {number} nowMs
 */
function sickOf(lists, nowMs) {
  return lists.flatMap(({ kind, rows, columns }) => {
    const healthOf = healthWith(columns);
    return [...rows].map((row) => ({ kind, row, health: healthOf(row, nowMs) })).filter(({ health }) => health.problem || health.level === "bad");
  });
}

/**
 * Return the known controllers of an object: the nearest first.
 * @param {Row} from
 * @param {Map<string, { kind: Kind, row: Row }>} known
 */
function ownersOf(from, known) {
  const owners = [];
  let row = from;
  while (owners.length < DEPTH_MAX) {
    const references = row.metadata.ownerReferences ?? [];
    const owner = known.get((references.find((each) => each.controller) ?? references[0])?.uid ?? "");
    if (!owner) break;
    owners.push(owner);
    row = owner.row;
  }
  return owners;
}

/**
 * @param {Cause[]} causes
 * @param {Kind} kind
 * @param {string} status
 * @param {Row} row
 */
function addCause(causes, kind, status, row) {
  const same = causes.find((each) => each.kind === kind && each.status === status);
  if (!same) {
    causes.push({ kind, status, count: 1, row });
    return;
  }
  same.count++;
  if ((row.metadata.creationTimestamp ?? "") > (same.row.metadata.creationTimestamp ?? "")) same.row = row;
}
