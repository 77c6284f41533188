/** Graph of relations: objects are nodes; owners, references and selectors are edges with their reasons. */
import { selects } from "./pointers.js";
import { addReason } from "./reasons.js";

/**
 * @typedef {import("../discovery/kinds.js").Kind} Kind
 * @typedef {import("../health/row_health.js").Level} Level
 * @typedef {"present" | "missing" | "unread" | "subject"} State
 * `unread`: the page does not read objects of this kind there. `subject`: a user or a group.
 * @typedef {{ id: string, kindName: string, group: string, kind: Kind | null, namespace: string, name: string, uid: string,
 *   level: Level, text: string, problem: boolean, state: State, owner: string, created: string }} Node
 * `owner`: id of the controller, or of the first owner.
 * @typedef {{ id: string, from: string, to: string, type: "owner" | "selector" | "field", why: string[] }} Edge
 * @typedef {{ nodes: Map<string, Node>, edges: Edge[], out: Map<string, Edge[]>, into: Map<string, Edge[]>, byUid: Map<string, string> }} Graph
 * @typedef {{ ofObject: (apiVersion: string, kind: string) => Kind | undefined, kinds: readonly Kind[], knows: (kind: Kind, namespace: string) => boolean }} Server
 */

/** Prefix of fields of a template: the objects that are made from it have the same references. */
const TEMPLATE = /^spec\.(template|jobTemplate)\./;

/**
 * Return the identity of an object in addresses: `Deployment.apps/shop/web`.
 * @param {string} kindName
 * @param {string} group
 * @param {string} namespace
 * @param {string} name
 */
export function nodeId(kindName, group, namespace, name) {
  return `${kindName}${group && `.${group}`}/${namespace}/${name}`;
}

/**
 * Return the graph of all objects that are read.
 * @param {import("./source.js").Item[]} items
 * @param {Server} server
 * @returns {Graph}
 */
export function graphOf(items, server) {
  const building = new Building(server);
  for (const item of items) building.addNode(item);
  for (const item of items) building.addOwners(item);
  for (const item of items) building.addPointers(item);
  building.addSelections(items);
  return building.graph;
}

class Building {
  /** @param {Server} server */
  constructor(server) {
    this.server = server;
    /** @type {Map<string, Edge>} */
    this.known = new Map();
    /** @type {Graph} */
    this.graph = { nodes: new Map(), edges: [], out: new Map(), into: new Map(), byUid: new Map() };
    /** Kinds by their names in lower case. @type {Map<string, Kind[]>} */
    this.named = new Map();
    for (const kind of server.kinds) {
      const name = kind.kind.toLowerCase();
      this.named.set(name, [...(this.named.get(name) ?? []), kind]);
    }
  }

  /** @param {import("./source.js").Item} item */
  addNode({ kind, row, health }) {
    const { name, namespace = "", creationTimestamp: created = "" } = row.metadata;
    const id = nodeId(kind.kind, kind.group, namespace, name);
    const { level, text, problem } = health;
    this.graph.byUid.set(row.uid, id);
    this.graph.nodes.set(id, {
      id, kindName: kind.kind, group: kind.group, kind, namespace, name, uid: row.uid, level, text, problem: problem !== null || level === "bad", state: "present", owner: "", created,
    });
  }

  /** @param {import("./source.js").Item} item */
  addOwners({ row }) {
    const id = /** @type {string} */ (this.graph.byUid.get(row.uid));
    const node = /** @type {Node} */ (this.graph.nodes.get(id));
    for (const owner of row.metadata.ownerReferences ?? []) {
      const from = this.graph.byUid.get(owner.uid) ?? this.#absent(owner.apiVersion, owner.kind, node.namespace, owner.name, "");
      if (owner.controller || !node.owner) node.owner = from;
      this.#edge(from, id, "owner", owner.controller ? "ownerReference (controller)" : "ownerReference");
    }
  }

  /** @param {import("./source.js").Item} item */
  addPointers({ kind, row, links }) {
    const from = /** @type {string} */ (this.graph.byUid.get(row.uid));
    const { owner } = /** @type {Node} */ (this.graph.nodes.get(from));
    for (const pointer of links.pointers) {
      const to = this.#target(pointer, kind.group);
      if (!to || to === from) continue;
      // A ReplicaSet has the references of the template of its Deployment, too.
      if (owner && TEMPLATE.test(pointer.field) && this.known.has(`${owner} ${to}`)) continue;
      this.#edge(from, to, "field", pointer.field);
    }
  }

  /** @param {import("./source.js").Item[]} items */
  addSelections(items) {
    const pods = items.filter(({ kind }) => kind.plural === "pods" && kind.group === "");
    /** Pods by a label. @type {Map<string, import("./source.js").Item[]>} */
    const labelled = new Map();
    for (const pod of pods) {
      for (const [key, value] of [["", ""], ...Object.entries(pod.row.metadata.labels ?? {})]) {
        const index = `${pod.row.metadata.namespace} ${key}=${value}`;
        const list = labelled.get(index);
        if (list) list.push(pod);
        else labelled.set(index, [pod]);
      }
    }
    for (const { row, links } of items) {
      for (const selection of links.selections) {
        const from = /** @type {string} */ (this.graph.byUid.get(row.uid));
        const [key, value] = selection.labels[0] ?? ["", ""];
        for (const pod of labelled.get(`${selection.namespace} ${key}=${value}`) ?? []) {
          if (!selects(selection, pod.row.metadata.labels ?? {})) continue;
          this.#edge(from, /** @type {string} */ (this.graph.byUid.get(pod.row.uid)), "selector", `${selection.field}: ${selection.text || "*"}`);
        }
      }
    }
  }

  /** @param {import("./pointers.js").Pointer} pointer @param {string} group of the object */
  #target({ apiVersion, kind, name, namespace, optional, guessed }, group) {
    if (apiVersion === "") return kind === "User" || kind === "Group" ? this.#subject(kind, name) : "";
    const among = this.named.get(kind.toLowerCase()) ?? [];
    const found = (guessed ? undefined : this.server.ofObject(apiVersion, kind)) ?? among.find((each) => each.group === group) ?? among[0];
    if (!found) return "";
    const scope = found.namespaced ? namespace : "";
    const id = nodeId(found.kind, found.group, scope, name);
    if (this.graph.nodes.has(id)) return id;
    return guessed ? "" : this.#absent(apiVersion, found.kind, scope, name, optional ? "optional" : "required", found);
  }

  /**
   * Add a node for an object that is not read.
   * @param {string} apiVersion
   * @param {string} kindName
   * @param {string} namespace of the object that refers to it
   * @param {string} name
   * @param {"" | "optional" | "required"} need
   * @param {Kind} [known]
   */
  #absent(apiVersion, kindName, namespace, name, need, known = this.server.ofObject(apiVersion, kindName)) {
    const group = known?.group ?? (apiVersion.includes("/") ? apiVersion.split("/")[0] : "");
    const scope = known && !known.namespaced ? "" : namespace;
    const id = nodeId(kindName, group, scope, name);
    const missing = Boolean(known) && this.server.knows(/** @type {Kind} */ (known), scope);
    const bad = missing && need !== "optional";
    const present = this.graph.nodes.get(id);
    // A required reference outweighs an optional one.
    if (present) return present.state === "missing" && bad ? (Object.assign(present, { level: "bad", problem: true }), id) : id;
    this.graph.nodes.set(id, {
      id, kindName, group, kind: known ?? null, namespace: scope, name, uid: "", level: bad ? "bad" : "neutral", text: "", problem: bad, state: missing ? "missing" : "unread", owner: "", created: "",
    });
    return id;
  }

  /** @param {string} kindName @param {string} name */
  #subject(kindName, name) {
    const id = nodeId(kindName, "", "", name);
    if (!this.graph.nodes.has(id)) {
      this.graph.nodes.set(id, { id, kindName, group: "", kind: null, namespace: "", name, uid: "", level: "neutral", text: "", problem: false, state: "subject", owner: "", created: "" });
    }
    return id;
  }

  /** @param {string} from @param {string} to @param {Edge["type"]} type @param {string} why */
  #edge(from, to, type, why) {
    const id = `${from} ${to}`;
    const back = type === "field" ? this.known.get(`${to} ${from}`) : undefined;
    const present = this.known.get(id) ?? (back?.type === "field" ? back : undefined);
    if (present) {
      addReason(present.why, why);
      return;
    }
    const edge = { id, from, to, type, why: [why] };
    this.known.set(id, edge);
    this.graph.edges.push(edge);
    push(this.graph.out, from, edge);
    push(this.graph.into, to, edge);
  }
}

/** @param {Map<string, Edge[]>} map @param {string} key @param {Edge} edge */
function push(map, key, edge) {
  const list = map.get(key);
  if (list) list.push(edge);
  else map.set(key, [edge]);
}
