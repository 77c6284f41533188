/** `ExecSocket`: a command with a terminal in a container, on a WebSocket. The first byte of a message is its channel. */

import { socketAddress } from "../transport/multiplexed.js";

const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const STDIN = 0;
const STATUS = 3;
const RESIZE = 4;
/** Messages that are typed before the connection is open, at most. */
const WAITING_MAX = 100;
/** Bytes of one message to the server. */
const MESSAGE_MAX = 16_384;

/**
 * @typedef {{ namespace: string, pod: string, container: string, command: string[] }} Target
 * @typedef {{ code: number | null, message: string }} End `code` is that of the command; null: the connection was lost or refused.
 * @typedef {{ onOpen: () => void, onOutput: (data: Uint8Array) => void, onEnd: (end: End, opened: boolean) => void }} Listener
 */

/**
 * Return the path that runs a command.
 * @param {Target} target
 */
export function execPath({ namespace, pod, container, command }) {
  const parameters = new URLSearchParams({ container, stdin: "true", stdout: "true", tty: "true" });
  for (const word of command) parameters.append("command", word);
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/exec?${parameters}`;
}

export class ExecSocket {
  /**
   * @param {Target} target
   * @param {Listener} listener
   */
  constructor(target, listener) {
    this.opened = false;
    /** Messages that wait for the connection. @type {Uint8Array[]} */
    this.waiting = [];
    this.encoder = new TextEncoder();
    /** @type {End | null} */
    this.end = null;
    this.socket = new WebSocket(socketAddress(execPath(target)), PROTOCOLS);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.opened = true;
      listener.onOpen();
      for (const message of this.waiting.splice(0)) this.socket.send(/** @type {Uint8Array<ArrayBuffer>} */ (message));
    };
    this.socket.onmessage = ({ data }) => this.#receive(new Uint8Array(data), listener);
    this.socket.onclose = ({ reason }) => listener.onEnd(this.end ?? { code: null, message: reason }, this.opened);
  }

  /**
   * @param {Uint8Array} message
   * @param {Listener} listener
   */
  #receive(message, listener) {
    const channel = message[0];
    if (channel === 1 || channel === 2) {
      if (message.length > 1) listener.onOutput(message.subarray(1));
    } else if (channel === STATUS && message.length > 1) this.end = endOf(new TextDecoder().decode(message.subarray(1)));
  }

  /** @param {string} text */
  input(text) {
    const bytes = this.encoder.encode(text);
    for (let at = 0; at < bytes.length; at += MESSAGE_MAX) this.#send(STDIN, bytes.subarray(at, at + MESSAGE_MAX));
  }

  /**
   * @param {number} columns
   * @param {number} rows
   */
  resize(columns, rows) {
    this.#send(RESIZE, this.encoder.encode(JSON.stringify({ Width: columns, Height: rows })));
  }

  close() {
    this.socket.onclose = null;
    this.socket.close();
  }

  /**
   * @param {number} channel
   * @param {Uint8Array} bytes
   */
  #send(channel, bytes) {
    const message = new Uint8Array(bytes.length + 1);
    message[0] = channel;
    message.set(bytes, 1);
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(message);
    else if (this.socket.readyState === WebSocket.CONNECTING && this.waiting.length < WAITING_MAX) this.waiting.push(message);
  }
}

/**
 * Return the end of a command from its Status.
 * @param {string} text
 * @returns {End}
 */
export function endOf(text) {
  try {
    const status = JSON.parse(text);
    if (status.status === "Success") return { code: 0, message: "" };
    const cause = (status.details?.causes ?? []).find((/** @type {any} */ each) => each.reason === "ExitCode");
    return { code: cause ? Number(cause.message) : null, message: String(status.message ?? "") };
  } catch {
    return { code: null, message: text };
  }
}

/**
 * Return the words of a command; quotes keep spaces, as in a shell.
 * @param {string} text
 */
export function wordsOf(text) {
  return [...text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}
