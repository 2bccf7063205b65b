// SPDX-License-Identifier: Apache-2.0
// Following what changes: one request that the service holds until there is something new.

import { ApiError, get } from "./api.js";

const WAIT = 25; // seconds: less than proxies do
const BUSY = 2000; // milliseconds: what took longer was held
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30000;

const pause = (milliseconds, signal) =>
  new Promise((go) => {
    const timer = setTimeout(go, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), go()), { once: true });
  });

/**
 * Follow a stack from a cursor on until a signal says so.
 *
 * `seen` is called with each answer, `lost` with whether the service answers. While much happens, there is as
 * much time between two looks as the last one took: what costs the service much is looked at less often.
 */
export async function follow(stack, cursor, { seen, lost, signal }) {
  let wait = FIRST_PAUSE;
  let since = cursor;
  while (!signal.aborted) {
    try {
      const began = performance.now();
      const { changes } = await get(`${stack}/changes`, { since, wait: WAIT }, signal);
      lost(false);
      wait = FIRST_PAUSE;
      since = changes.cursor;
      const news = changes.missed || changes.more || changes.events.length > 0;
      await seen(changes);
      const took = performance.now() - began;
      // A service that does not hold requests answers at once that there is nothing.
      if (!news && took < WAIT * 500) await pause(FIRST_PAUSE, signal);
      else if (news && !changes.more) await pause(took < BUSY ? took : 0, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && [401, 403, 404].includes(error.status)) {
        lost(false);
        throw error;
      }
      lost(true);
      await pause(wait, signal);
      wait = Math.min(2 * wait, LONGEST_PAUSE);
    }
  }
}

/** Return a function that has something done soon, never twice at a time, and the dearer it is the less often. */
export function calmly(work, { least = 700, share = 4 } = {}) {
  let timer = null;
  let running = false;
  let again = false;
  let last = 0;
  async function run() {
    timer = null;
    running = true;
    const began = performance.now();
    try {
      await work();
    } finally {
      last = performance.now() - began;
      running = false;
      if (again) {
        again = false;
        soon();
      }
    }
  }
  function soon() {
    if (running) again = true;
    else timer ??= setTimeout(run, Math.max(least, share * last));
  }
  soon.stop = () => clearTimeout(timer);
  return soon;
}
