/** `RelationsModel`: what the views of relations show, from the objects that are read and the address. */
import { computed } from "@preact/signals";
import { query } from "../routes/location.js";
import { session } from "../session/session.js";
import { around, connected, pathBetween, related } from "./around.js";
import { matcherOf } from "./filter.js";
import { fold } from "./fold.js";
import { graphOf, nodeId } from "./graph.js";
import { RelationsSource } from "./source.js";
import { matchingTree, treeOf } from "./tree.js";

const OPENED_MAX = 12;

export class RelationsModel {
  /**
   * @param {import("../discovery/kinds.js").Kind} kind
   * @param {string} namespace
   * @param {string} name
   */
  constructor(kind, namespace, name) {
    this.root = nodeId(kind.kind, kind.group, namespace, name);
    this.isNamespace = kind.plural === "namespaces" && kind.group === "";
    this.source = new RelationsSource(kind, namespace, name);
    const parameter = (/** @type {string} */ each) => computed(() => query.value.get(each) ?? "");
    this.text = parameter("q");
    this.problemsOnly = parameter("problems");
    this.wide = parameter("all");
    this.selected = parameter("node");
    this.from = parameter("from");
    this.to = parameter("to");
    this.open = parameter("open");
    this.matches = computed(() => matcherOf(this.text.value, this.problemsOnly.value === "1"));
    this.graph = computed(() => {
      this.source.version.value;
      return this.#graph();
    });
    /** Nodes of the part that is shown, before the filter. */
    this.scope = computed(() => (this.wide.value === "1" || this.isNamespace ? related(this.graph.value, this.root) : around(this.graph.value, this.root)));
    this.path = computed(() => this.#path());
    /** Nodes that the filter leaves. */
    this.shown = computed(() => {
      const matches = this.matches.value;
      const kept = matches ? connected(this.graph.value, this.scope.value, this.root, matches) : this.scope.value;
      return new Set([...kept, ...this.#onPath()]);
    });
    this.folded = computed(() => {
      const pinned = new Set([this.root, this.selected.value, ...this.#onPath()].filter((id) => this.shown.value.has(id)));
      return fold(this.graph.value, this.shown.value, { pinned, opened: this.open.value.split(",").filter(Boolean).slice(-OPENED_MAX) });
    });
    this.edges = computed(() => this.graph.value.edges.filter((edge) => this.shown.value.has(edge.from) && this.shown.value.has(edge.to)));
    this.tree = computed(() => treeOf(this.graph.value, this.root));
    this.shownTree = computed(() => (this.matches.value ? matchingTree(this.tree.value, this.matches.value) : this.tree.value));
    this.problems = computed(() => [...this.scope.value].filter((id) => this.graph.value.nodes.get(id)?.problem).length);
  }

  #graph() {
    const { discovery } = session;
    const server = {
      kinds: discovery.kinds.peek(),
      ofObject: (/** @type {string} */ version, /** @type {string} */ kind) => discovery.ofObject(version, kind),
      knows: this.source.knows.bind(this.source),
    };
    return graphOf(this.source.items(), server);
  }

  /** @returns {{ from: string, to: string, steps: import("./around.js").Step[] | null } | null} null: no two objects are chosen */
  #path() {
    const { nodes } = this.graph.value;
    const [from, to] = [this.from.value, this.to.value];
    if (!nodes.has(from) || !nodes.has(to)) return null;
    return { from, to, steps: pathBetween(this.graph.value, from, to, this.scope.value) };
  }

  #onPath() {
    const path = this.path.value;
    return path ? [path.from, path.to, ...(path.steps ?? []).flatMap(({ edge }) => [edge.from, edge.to])] : [];
  }
}
