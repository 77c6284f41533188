/** `Layouts`: asks the worker for positions. Only the newest request counts. */

/** Name of the file of the worker, which the build sets. @type {string} */
const FILE = /** @type {any} */ (import.meta).layoutWorker;
const ADDRESS = `/dashboard/static/${FILE}`;

/** The only address that may become a script: the policy of the page permits no other way to a worker. */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("sampan-worker", {
  createScriptURL: (/** @type {string} */ address) => {
    if (address !== ADDRESS) throw new TypeError(`not a worker of the page: ${address}`);
    return address;
  },
});

export class Layouts {
  constructor() {
    this.worker = new Worker(policy ? policy.createScriptURL(ADDRESS) : ADDRESS);
    this.id = 0;
    /** @type {((answer: { positions: import("./layout.js").Positions, ms: number }) => void) | null} */
    this.answer = null;
    this.worker.onmessage = ({ data }) => {
      if (data.id === this.id) this.answer?.(data);
    };
  }

  /**
   * @param {import("./layout.js").LayoutRequest} request
   * @param {(answer: { positions: import("./layout.js").Positions, ms: number }) => void} answer
   */
  request(request, answer) {
    this.answer = answer;
    this.worker.postMessage({ id: ++this.id, request });
  }

  /** Drop the answer to the last request. */
  forget() {
    this.id++;
  }

  end() {
    this.answer = null;
    this.worker.terminate();
  }
}
