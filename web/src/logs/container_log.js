/** `ContainerLog`: follows the log of one container. It continues after interruptions and restarts without lines twice. */
import { pause } from "../discovery/discovery.js";
import { ConnectionLost, StatusError, safeMessage } from "../transport/errors.js";
import { lineOf } from "./line.js";
import { logPath } from "./options.js";

const AGAIN_MS = 1000;
const AGAIN_MAX_MS = 5000;

/**
 * @typedef {import("./line.js").Source} Source
 * @typedef {{ transport: import("../transport/fetch_transport.js").Transport, namespace: string, source: Source,
 *   options: import("./options.js").Options, isOver: () => boolean, onLines: (lines: import("./line.js").Line[]) => void,
 *   onState: () => void }} ContainerLogOptions
 * `isOver`: the container will write nothing more.
 */

export class ContainerLog {
  /** @param {ContainerLogOptions} given */
  constructor(given) {
    this.given = given;
    this.last = "";
    /** Number of lines that were read with the time of the last one. */
    this.same = 0;
    this.failures = 0;
  }

  /**
   * Follow until the signal aborts, or nothing more comes.
   * @param {AbortSignal} stop
   */
  async run(stop) {
    const { isOver, options } = this.given;
    while (!stop.aborted) {
      const over = isOver();
      try {
        await this.#read(stop);
        this.failures = 0;
        if (over || options.previous) return this.#state("ended");
        if (!isOver()) this.#state("waiting");
      } catch (error) {
        if (stop.aborted) return undefined;
        if (error instanceof StatusError && this.#isFinal(error, over)) return this.#state("refused", error);
        if (error instanceof StatusError) this.#state("waiting", error);
        else if (error instanceof ConnectionLost) this.#state("connecting");
        else throw error;
      }
      await pause(Math.min(AGAIN_MS * 1.6 ** this.failures++, AGAIN_MAX_MS), stop);
    }
    return undefined;
  }

  /**
   * @param {StatusError} error
   * @param {boolean} over
   */
  #isFinal(error, over) {
    return [401, 403, 404, 405].includes(error.code) || over || (error.code === 400 && this.given.options.previous);
  }

  /**
   * @param {Source["state"]} state
   * @param {StatusError | null} [error]
   */
  #state(state, error = null) {
    const { source, onState } = this.given;
    const problem = error ? safeMessage(error.message) : "";
    if (source.state === "gone" || (source.state === state && source.problem === problem)) return;
    source.state = state;
    source.problem = problem;
    source.code = error?.code ?? 0;
    onState();
  }

  /** @param {AbortSignal} stop */
  #read(stop) {
    const { transport, namespace, source, options, onLines } = this.given;
    const path = logPath(namespace, source, options, { follow: true, timestamps: true, after: this.last });
    const known = new Known(this.last, this.same);
    return transport.textLines(
      path,
      (given) => {
        this.#state("live");
        const lines = [];
        for (const each of given) {
          const line = lineOf(each, source, this.last);
          if (known.has(line.key)) continue;
          this.same = line.key === this.last ? this.same + 1 : 1;
          this.last = line.key;
          lines.push(line);
        }
        if (lines.length) onLines(lines);
      },
      stop,
    );
  }
}

/** The lines that were read before an interruption. */
class Known {
  /**
   * @param {string} last
   * @param {number} same
   */
  constructor(last, same) {
    this.last = last;
    this.same = same;
  }

  /** @param {string} key */
  has(key) {
    if (this.last === "") return false;
    if (key < this.last) return true;
    if (key === this.last && this.same > 0) {
      this.same--;
      return true;
    }
    this.last = "";
    return false;
  }
}
