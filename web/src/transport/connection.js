/** `Connection`: whether what is on the screen is live. Every watch reports to it. */
import { computed, signal } from "@preact/signals";

/** Time in milliseconds after which the data counts as stale. */
export const STALE_MS = 15_000;

export class Connection {
  /** @param {import("@preact/signals").ReadonlySignal<number>} now */
  constructor(now) {
    this.now = now;
    /** @type {Set<object>} */
    this.lost = new Set();
    /** Time since which watches are interrupted; 0: none is. */
    this.since = signal(0);
    this.state = computed(() => {
      if (this.since.value === 0) return "live";
      return this.now.value - this.since.value > STALE_MS ? "stale" : "reconnecting";
    });
  }

  /** @param {object} watch */
  interrupted(watch) {
    this.lost.add(watch);
    if (this.since.peek() === 0) this.since.value = Date.now();
  }

  /** @param {object} watch */
  restored(watch) {
    this.lost.delete(watch);
    if (this.lost.size === 0) this.since.value = 0;
  }
}
