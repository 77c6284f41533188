/** `usePolled`: what a request returns, read again from time to time while the page is visible. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pause } from "../discovery/discovery.js";
import { session } from "../session/session.js";

/**
 * Return a signal with what was found last, and the error of the last try. The former stays after an error.
 * @template T
 * @param {(transport: import("../transport/fetch_transport.js").Transport, signal: AbortSignal) => Promise<T>} read
 * @param {number} againMs
 * @returns {import("@preact/signals").Signal<{ found: T | null, error: any }>}
 */
export function usePolled(read, againMs) {
  const state = useSignal(/** @type {{ found: T | null, error: any }} */ ({ found: null, error: null }));
  useEffect(() => {
    const stop = new AbortController();
    const follow = async () => {
      while (!stop.signal.aborted) {
        if (!document.hidden || state.peek().found === null) {
          try {
            state.value = { found: await read(session.transport, stop.signal), error: null };
          } catch (error) {
            if (!stop.signal.aborted) state.value = { found: state.peek().found, error };
          }
        }
        await pause(againMs, stop.signal);
      }
    };
    follow();
    return () => stop.abort();
  }, []);
  return state;
}
