/**
 * Watches over one WebSocket, `/dashboard/stream`: a browser opens only six connections to a server without HTTP/2.
 *
 * Each line costs the server one credit. The page returns credits after it has processed the lines.
 */
import { isUnused } from "../session/activity.js";
import { ConnectionLost, LOST, StatusError, safeMessage } from "./errors.js";

const CREDIT = 1000;
const RETURN_AT = 500;

/**
 * @typedef {{ onData: (data: any[]) => void, resolve: () => void, reject: (error: Error) => void, used: number, refused?: boolean }} Subscription
 */

/**
 * Return the address of a WebSocket of this server.
 * @param {string} path
 */
export function socketAddress(path) {
  return `${location.origin.replace("http", "ws")}${path}`;
}

export class Multiplexed {
  /**
   * @param {() => WebSocket} connect returns a new socket
   * @param {() => void} [onClosed] called after each end of a socket: the session may have ended
   */
  constructor(connect, onClosed = () => {}) {
    this.connect = connect;
    this.onClosed = onClosed;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {Map<number, Subscription>} */
    this.open = new Map();
    /** @type {string[]} */
    this.waiting = [];
    this.next = 1;
  }

  /**
   * @param {string} path
   * @param {string} accept
   * @param {import("./fetch_transport.js").OnDocuments} onDocuments
   * @param {AbortSignal} signal
   * @returns {Promise<void>}
   */
  stream(path, accept, onDocuments, signal) {
    return this.#open(path, accept, (data) => onDocuments(data.map((each) => (typeof each === "string" ? JSON.parse(each) : each))), signal);
  }

  /**
   * @param {string} path
   * @param {import("./fetch_transport.js").OnLines} onLines
   * @param {AbortSignal} signal
   */
  textLines(path, onLines, signal) {
    return this.#open(path, "text/plain, */*", (data) => data.length && onLines(data), signal);
  }

  /**
   * @param {string} path
   * @param {string} accept
   * @param {(data: any[]) => void} onData
   * @param {AbortSignal} signal
   * @returns {Promise<void>}
   */
  #open(path, accept, onData, signal) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.open.set(id, { onData, resolve, reject, used: 0 });
      this.#send({ op: "open", id, path, accept, credit: CREDIT, ...(isUnused() ? { background: true } : {}) });
      signal.addEventListener(
        "abort",
        () => {
          if (!this.open.delete(id)) return;
          this.#send({ op: "close", id });
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  /** @param {object} message */
  #send(message) {
    const text = JSON.stringify(message);
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(text);
      return;
    }
    this.waiting.push(text);
    if (this.socket === null) this.#dial();
  }

  #dial() {
    const socket = this.connect();
    this.socket = socket;
    socket.onopen = () => {
      for (const text of this.waiting.splice(0)) socket.send(text);
    };
    socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
    socket.onclose = (event) => {
      if (this.socket === socket) this.socket = null;
      this.waiting = [];
      this.onClosed();
      const lost = [...this.open.values()];
      this.open.clear();
      for (const each of lost) each.reject(new ConnectionLost(event.reason || `WebSocket ${event.code}`));
    };
  }

  /** @param {{ id: number, status?: number, data?: unknown[], end?: { code?: number, message?: string } }} message */
  #receive(message) {
    const subscription = this.open.get(message.id);
    if (!subscription) return;
    if (message.status) {
      subscription.refused = message.status >= 400;
      if (!subscription.refused) subscription.onData([]);
    }
    if (message.data) {
      // The document of an error is no event; its message is in the end of the subscription.
      if (!subscription.refused) subscription.onData(message.data);
      subscription.used += message.data.length;
      if (subscription.used >= RETURN_AT) {
        this.#send({ op: "credit", id: message.id, add: subscription.used });
        subscription.used = 0;
      }
    }
    if (message.end) {
      this.open.delete(message.id);
      const code = message.end.code ?? 200;
      if (code < 400) subscription.resolve();
      else if (code === LOST) subscription.reject(new ConnectionLost(safeMessage(message.end.message)));
      else subscription.reject(new StatusError(code, { ...message.end, message: safeMessage(message.end.message) }));
    }
  }
}
