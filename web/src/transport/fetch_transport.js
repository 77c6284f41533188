/** Requests with `fetch`: the cookie of the session authenticates them, together with the page's header. */
import { isUnused } from "../session/activity.js";
import { ConnectionLost, LOST, statusErrorOf } from "./errors.js";
import { TextLines } from "./text_lines.js";
import { Turns, hasFewConnections } from "./turns.js";

export const PAGE_HEADERS = { "X-Sampan-Page": "1" };

/**
 * @typedef {{ method?: string, accept?: string, body?: unknown, type?: string, signal?: AbortSignal, onWarnings?: (texts: string[]) => void,
 *   headers?: Record<string, string>, onHeaders?: (headers: Headers) => void }} RequestOptions
 * `type` is the media type of the body, JSON by default. `onWarnings` gets the warnings of a response, if there are any.
 * `headers` are further ones of the request, `onHeaders` gets those of the response. `json` returns null for 204 and 304.
 * @typedef {(documents: any[]) => void} OnDocuments
 * @typedef {(lines: import("./text_lines.js").TextLine[]) => void} OnLines
 * @typedef {{ json: (path: string, options?: RequestOptions) => Promise<any>, text: (path: string, options?: RequestOptions) => Promise<string>,
 *   file: (path: string, signal: AbortSignal) => Promise<Blob>,
 *   stream: (path: string, accept: string, onDocuments: OnDocuments, signal: AbortSignal) => Promise<void>,
 *   lines: (path: string, onDocuments: OnDocuments, signal?: AbortSignal) => Promise<void>,
 *   textLines: (path: string, onLines: OnLines, signal: AbortSignal) => Promise<void> }} Transport
 * A transport sends requests. `stream` passes on the documents of a watch in batches, the first of which is empty: the server has
 * begun to respond. `textLines` passes on the lines of a text; both return when the response ends. `lines` passes on documents of a
 * response that ends by itself, so it takes no turns with watches.
 * `file` returns a whole response, which the caller bounds.
 */

/** @implements {Transport} */
export class FetchTransport {
  /**
   * @param {() => void} onUnauthorized called when the session has ended
   * @param {Record<string, string>} [headers] of all requests
   */
  constructor(onUnauthorized, headers = {}) {
    this.onUnauthorized = onUnauthorized;
    this.headers = headers;
    this.turns = new Turns(hasFewConnections());
  }

  /**
   * @param {string} path
   * @param {RequestOptions} [options]
   */
  async json(path, options = {}) {
    const response = await this.#send(path, options);
    try {
      return response.status === 204 || response.status === 304 ? null : await response.json();
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new ConnectionLost(String(error));
    }
  }

  /**
   * Return the text of a response, as of metrics.
   * @param {string} path
   * @param {RequestOptions} [options]
   */
  async text(path, options = {}) {
    const response = await this.#send(path, { accept: "text/plain", ...options });
    try {
      return await response.text();
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new ConnectionLost(String(error));
    }
  }

  /**
   * @param {string} path
   * @param {string} accept
   * @param {OnDocuments} onDocuments
   * @param {AbortSignal} signal
   */
  stream(path, accept, onDocuments, signal) {
    return this.turns.run(signal, (turn) => this.#read(path, accept, onDocuments, turn, () => onDocuments([])));
  }

  /**
   * @param {string} path
   * @param {OnDocuments} onDocuments
   * @param {AbortSignal} [signal]
   */
  lines(path, onDocuments, signal) {
    return this.#read(path, "application/json", onDocuments, signal ?? new AbortController().signal);
  }

  /**
   * @param {string} path
   * @param {OnLines} onLines
   * @param {AbortSignal} signal
   */
  textLines(path, onLines, signal) {
    return this.turns.run(signal, async (turn) => {
      const lines = new TextLines();
      const pass = (/** @type {import("./text_lines.js").TextLine[]} */ found) => found.length && onLines(found);
      await this.#chunks(path, "text/plain, */*", turn, (chunk) => pass(lines.feed(chunk)));
      pass(lines.end());
    });
  }

  /**
   * @param {string} path
   * @param {AbortSignal} signal
   */
  async file(path, signal) {
    const response = await this.#send(path, { accept: "text/plain, */*", signal });
    try {
      return await response.blob();
    } catch (error) {
      if (signal.aborted) throw error;
      throw new ConnectionLost(String(error));
    }
  }

  /**
   * @param {string} path
   * @param {string} accept
   * @param {OnDocuments} onDocuments
   * @param {AbortSignal} signal
   * @param {() => void} [onBegun]
   */
  async #read(path, accept, onDocuments, signal, onBegun) {
    let rest = "";
    await this.#chunks(path, accept, signal, (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      const documents = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
      if (documents.length) onDocuments(documents);
    }, onBegun);
  }

  /**
   * @param {string} path
   * @param {string} accept
   * @param {AbortSignal} signal
   * @param {(chunk: string) => void} onChunk
   * @param {() => void} [onBegun]
   */
  async #chunks(path, accept, signal, onChunk, onBegun) {
    const response = await this.#send(path, { accept, signal });
    onBegun?.();
    if (!response.body) return;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        onChunk(decoder.decode(value, { stream: true }));
      }
    } catch (error) {
      if (signal.aborted) throw error;
      throw new ConnectionLost(String(error));
    }
  }

  /**
   * @param {string} path
   * @param {RequestOptions} options
   */
  async #send(path, { method = "GET", accept = "application/json", body, type = "application/json", signal, onWarnings, headers: more, onHeaders }) {
    /** @type {Record<string, string>} */
    const headers = { Accept: accept, ...more, ...this.headers, ...PAGE_HEADERS };
    if (isUnused()) headers["X-Sampan-Background"] = "1";
    if (body !== undefined) headers["Content-Type"] = type;
    let response;
    try {
      response = await fetch(path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
        credentials: "same-origin",
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ConnectionLost(String(error));
    }
    const warnings = response.headers.get("Warning");
    if (warnings && onWarnings) onWarnings(warningTexts(warnings));
    onHeaders?.(response.headers);
    if (response.ok || response.status === 304) return response;
    if (response.status === 401) this.onUnauthorized();
    const error = await statusErrorOf(response);
    throw response.status === LOST ? new ConnectionLost(error.message) : error;
  }
}

/**
 * Return the texts of a header `Warning`: `299 - "text"`, separated by commas.
 * @param {string} header
 */
export function warningTexts(header) {
  return [...header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => match[1].replace(/\\(.)/g, "$1"));
}
