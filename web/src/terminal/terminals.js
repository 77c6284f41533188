/** Terminals that are open. They stay while one looks at something else, and end with the login. */
import { effect, signal } from "@preact/signals";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { safeMessage } from "../transport/errors.js";
import { ExecSocket, execPath } from "./exec_socket.js";

/** Terminals at once, of all Pods. */
export const TERMINALS_MAX = 8;

/** @type {import("@preact/signals").Signal<Shell[]>} */
export const terminals = signal([]);
let next = 1;

/** @typedef {"connecting" | "open" | "ended" | "lost"} State */

/** A terminal: a command in a container, and its screen. */
export class Shell {
  /**
   * @param {string} uid that of the Pod
   * @param {import("./exec_socket.js").Target} target
   */
  constructor(uid, target) {
    this.id = next++;
    this.uid = uid;
    this.target = target;
    /** @type {import("@preact/signals").Signal<State>} */
    this.state = signal(/** @type {State} */ ("connecting"));
    this.message = signal("");
    /** @type {import("./pane.js").Pane | null} */
    this.pane = null;
    /** @type {ExecSocket | null} */
    this.socket = null;
    /** Where the focus goes when the user leaves the terminal. */
    this.onLeave = () => {};
  }

  /**
   * Show the screen, and start the command the first time.
   * @param {HTMLElement} host
   * @param {boolean} reader
   */
  async attach(host, reader) {
    if (!this.pane) {
      const { Pane } = await import("./pane.js");
      if (this.pane || !terminals.peek().includes(this)) return;
      this.pane = new Pane({
        reader,
        label: t("terminal.label", { container: this.target.container }),
        onInput: (text) => this.socket?.input(text),
        onResize: (columns, rows) => this.socket?.resize(columns, rows),
        onLeave: () => this.onLeave(),
        dropped: (count) => t("terminal.dropped", { count }),
      });
    }
    if (!host.isConnected) return;
    this.pane.attach(host);
    if (!this.socket) this.connect();
  }

  /** Run the command, again if it has ended. */
  connect() {
    const { pane } = this;
    if (!pane) return;
    this.socket?.close();
    this.state.value = "connecting";
    this.message.value = "";
    this.socket = new ExecSocket(this.target, {
      onOpen: () => {
        this.state.value = "open";
        this.socket?.resize(pane.size.columns, pane.size.rows);
      },
      onOutput: (data) => pane.write(data),
      onEnd: (end, opened) => this.#ended(end, opened),
    });
    pane.terminal.focus();
  }

  /**
   * @param {import("./exec_socket.js").End} end
   * @param {boolean} opened
   */
  async #ended(end, opened) {
    const { socket } = this;
    this.state.value = end.code === null ? "lost" : "ended";
    this.message.value = end.code === null ? safeMessage(end.message) : t("terminal.exit", { code: end.code });
    if (opened || end.message) return;
    // A browser does not show a script why a socket was refused; a request without an upgrade has the reason.
    const error = await session.transport.json(execPath(this.target)).then(() => null, (/** @type {any} */ refused) => refused);
    if (error && !/upgrade/i.test(error.message) && this.socket === socket) this.message.value = safeMessage(error.message);
  }

  close() {
    this.socket?.close();
    this.pane?.dispose();
    terminals.value = terminals.peek().filter((each) => each !== this);
  }
}

/**
 * Open a terminal; null if there are too many.
 * @param {string} uid
 * @param {import("./exec_socket.js").Target} target
 */
export function openTerminal(uid, target) {
  if (terminals.peek().length >= TERMINALS_MAX) return null;
  const shell = new Shell(uid, target);
  terminals.value = [...terminals.peek(), shell];
  return shell;
}

effect(() => {
  if (session.state.value === "out") for (const each of terminals.peek()) each.close();
});
