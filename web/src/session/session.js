/** `session`: the user, the transport and what the whole page shares. It is the only global object. */
import { signal } from "@preact/signals";
import { Discovery } from "../discovery/discovery.js";
import { dropDrafts } from "../edit/draft.js";
import { reportError } from "../frame/notices.js";
import { present } from "../time/clock.js";
import { Connection } from "../transport/connection.js";
import { FetchTransport } from "../transport/fetch_transport.js";
import { Multiplexed, socketAddress } from "../transport/multiplexed.js";

const PATH = "/dashboard/session";
const REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/**
 * @typedef {{ user: { username: string, groups?: string[] }, expires?: string | null, idleExpires?: string,
 *   server?: { version?: string, features?: string[], context?: string } }} Login
 */

/**
 * Return the headers of requests as another user. `fetch` joins headers of one name, so there is one group.
 * @param {{ user: string, group: string }} identity
 */
function headersOf({ user, group }) {
  return { "Impersonate-User": user, ...(group ? { "Impersonate-Group": group } : {}) };
}

class Session {
  constructor() {
    /** "unknown" until the server has answered. @type {import("@preact/signals").Signal<"unknown" | "in" | "out" | "unreachable">} */
    this.state = signal("unknown");
    /** @type {import("@preact/signals").Signal<Login | null>} */
    this.login = signal(null);
    /** The page shows what this user would see, and acts with those rights. @type {import("@preact/signals").Signal<{ user: string, group: string } | null>} */
    this.viewedAs = signal(null);
    /** Ways to log in that the server offers. */
    this.logins = signal(["token"]);
    /** True after a login that has ended. */
    this.expired = signal(false);
    /** @type {import("../transport/fetch_transport.js").Transport} */
    this.transport = new FetchTransport(() => this.ended());
    this.connection = new Connection(present);
    this.discovery = new Discovery(this.transport);
    this.stop = new AbortController();
  }

  /** Find out who the user is. */
  async begin() {
    try {
      this.entered(await this.transport.json(PATH));
    } catch (error) {
      const { code, status } = /** @type {any} */ (error);
      if (code === 401) {
        this.logins.value = status.logins ?? this.logins.value;
        this.state.value = "out";
      } else {
        this.state.value = "unreachable";
      }
    }
  }

  /**
   * Log in with a token, a one-time link or a certificate. Raises `StatusError`.
   * @param {{ token: string } | { link: string } | { certificate: true }} credential
   */
  async enter(credential) {
    this.entered(await this.transport.json(PATH, { method: "POST", body: credential }));
  }

  /** Read the times of the session again: a renewal moves its end. */
  async refresh() {
    const login = await this.transport.json(PATH);
    if (this.state.peek() === "in") this.login.value = this.viewedAs.peek() ? { ...login, user: this.login.peek()?.user } : login;
  }

  /**
   * Show the page as another user sees it; null: as the user of the session. Raises `StatusError` without the right to impersonate.
   * @param {{ user: string, group: string } | null} identity
   */
  async viewAs(identity) {
    const own = new FetchTransport(() => this.ended(), identity ? headersOf(identity) : {});
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const user = identity ? (await own.json(REVIEWS, { method: "POST", body })).status.userInfo : null;
    const login = await new FetchTransport(() => this.ended()).json(PATH);
    this.stop.abort();
    this.viewedAs.value = identity;
    this.entered(user ? { ...login, user } : login);
  }

  async leave() {
    await this.transport.json(PATH, { method: "DELETE" });
    this.expired.value = false;
    dropDrafts();
    this.#out();
  }

  /** @param {Login} login */
  entered(login) {
    this.login.value = login;
    this.expired.value = false;
    this.stop = new AbortController();
    this.#useFeatures(new Set(login.server?.features ?? []));
    this.state.value = "in";
    this.discovery.run(this.stop.signal, this.connection, reportError).catch(() => {});
  }

  /** The server no longer accepts the session. */
  ended() {
    if (this.state.peek() !== "in") return;
    this.expired.value = true;
    this.#out();
    this.begin();
  }

  /** @param {string} feature */
  has(feature) {
    return this.login.value?.server?.features?.includes(feature) ?? false;
  }

  /**
   * Find out whether the session has ended: a browser does not tell a script why its socket was refused.
   * @param {FetchTransport} transport
   */
  #check(transport) {
    if (this.state.peek() === "in") transport.json(PATH).catch(() => {});
  }

  #out() {
    this.stop.abort();
    this.viewedAs.value = null;
    this.login.value = null;
    this.state.value = "out";
  }

  /** @param {Set<string>} features */
  #useFeatures(features) {
    const viewed = this.viewedAs.peek();
    const fetching = new FetchTransport(() => this.ended(), viewed ? headersOf(viewed) : {});
    this.transport = fetching;
    // A browser sends no headers with a WebSocket: its watches would be those of the session's user.
    if (features.has("stream") && !viewed) {
      const multiplexed = new Multiplexed(() => new WebSocket(socketAddress("/dashboard/stream")), () => this.#check(fetching));
      this.transport = {
        json: (path, options) => fetching.json(path, options),
        lines: (path, onDocuments, stop) => fetching.lines(path, onDocuments, stop),
        text: (path, options) => fetching.text(path, options),
        file: (path, stop) => fetching.file(path, stop),
        textLines: (path, onLines, stop) => multiplexed.textLines(path, onLines, stop),
        stream: (path, accept, onDocuments, stop) => multiplexed.stream(path, accept, onDocuments, stop),
      };
    }
    this.discovery = new Discovery(this.transport);
  }
}

export const session = new Session();
