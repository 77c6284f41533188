/** Errors of requests. The server's own are a `Status`; a lost connection has none. */

/**
 * @typedef {{ reason?: string, message?: string, field?: string }} Cause
 * @typedef {{ kind?: string, message?: string, reason?: string, code?: number,
 *   details?: { name?: string, group?: string, kind?: string, causes?: Cause[], retryAfterSeconds?: number } }} Status
 */

/** Response of the server that is an error. */
export class StatusError extends Error {
  /**
   * @param {number} code
   * @param {Status} status
   */
  constructor(code, status) {
    super(status.message || `HTTP ${code}`);
    this.name = "StatusError";
    this.code = code;
    this.status = status;
  }
}

/** No response: the server or the network is away. */
export class ConnectionLost extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "ConnectionLost";
  }
}

/** Code of a server that cannot reach the server behind it. */
export const LOST = 502;

/** Characters of a message that are kept: a webhook may send 64 KiB. */
export const MESSAGE_MAX = 4000;

/**
 * Return a text with a mark for each control character: some of them reverse or hide the text around them.
 * @param {unknown} text
 */
export function visible(text) {
  return String(text ?? "").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

/**
 * Return the text of an error without control characters, cut.
 * @param {unknown} text
 */
export function safeMessage(text) {
  const clean = visible(text);
  return clean.length > MESSAGE_MAX ? `${clean.slice(0, MESSAGE_MAX)}…` : clean;
}

/**
 * Return the error of a response.
 * @param {Response} response
 */
export async function statusErrorOf(response) {
  const text = await response.text().catch(() => "");
  /** @type {Status} */
  let status = {};
  try {
    const decoded = JSON.parse(text);
    if (decoded && typeof decoded === "object") status = decoded;
  } catch {
    status = { message: text };
  }
  return new StatusError(response.status, { ...status, message: safeMessage(status.message) });
}
