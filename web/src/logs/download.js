/** Downloads of logs: all that the containers have written, or the lines on the screen. */
import { plainText } from "./ansi.js";
import { logPath } from "./options.js";

/** Bytes of one log in a download of all. */
const LOG_BYTES_MAX = 64 << 20;
/** Logs in a download of all. */
const LOGS_MAX = 40;

/**
 * Return the logs as `kubectl logs` prints them, with prefixes if there are several.
 * @param {import("./streams.js").LogStreams} streams
 * @param {AbortSignal} stop
 */
export async function wholeLogs(streams, stop) {
  const sources = streams.sources.peek().filter((source) => source.state !== "gone").slice(0, LOGS_MAX);
  const parts = [];
  for (const source of sources) {
    const path = logPath(streams.namespace, source, { ...streams.options, since: streams.options.since === "tail" ? "all" : streams.options.since },
      { follow: false, timestamps: streams.options.times, limitBytes: LOG_BYTES_MAX });
    const log = await streams.transport.file(path, stop);
    parts.push(sources.length > 1 ? prefixed(await log.text(), prefixOf(source)) : log);
  }
  return new Blob(/** @type {BlobPart[]} */ (parts), { type: "text/plain;charset=utf-8" });
}

/**
 * Return the lines that are shown.
 * @param {import("./streams.js").LogStreams} streams
 * @param {boolean} times
 */
export function shownLines(streams, times) {
  const several = streams.sources.peek().length > 1;
  const parts = [];
  for (let i = 0; i < streams.selection.length; i++) {
    const line = streams.selection.at(i);
    if (line.event) continue;
    parts.push(`${several ? prefixOf(line.source) : ""}${times ? `${line.key.replace(/\.?0*$/, "")}Z ` : ""}${plainText(line.text)}\n`);
  }
  return new Blob(parts, { type: "text/plain;charset=utf-8" });
}

/** @param {import("./line.js").Source} source */
function prefixOf({ pod, container }) {
  return `[pod/${pod}/${container}] `;
}

/**
 * @param {string} text
 * @param {string} prefix
 */
function prefixed(text, prefix) {
  const lines = text.split("\n");
  const last = lines.pop();
  return lines.map((line) => `${prefix}${line}\n`).join("") + (last ? prefix + last : "");
}
