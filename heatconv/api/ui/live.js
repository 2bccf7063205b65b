// SPDX-License-Identifier: Apache-2.0
// Following what changes: one request that the service holds until there is something new, while somebody looks.

import { pause, untilRead } from "./again.js";
import { get, serviceTime } from "./api.js";

const WAIT = 25; // seconds: less than proxies do
const REST = 1000; // milliseconds
const SHORT = 2000; // milliseconds: a longer look may have been held
const ROUNDED = 1000; // milliseconds: the times of events are in whole seconds

/** Return how long to leave the service alone after a look: for as long as the service was busy with the look. */
function restAfter({ missed, more, events }, took) {
  if (more) return 0;
  // A service that does not hold requests answers at once that there is nothing.
  if (!missed && !events.length) return took < WAIT * 500 ? REST : 0;
  if (took < SHORT || !events.length) return took;
  // A look is held until the first event, unless that had happened before.
  const age = serviceTime() - new Date(events[0].event_time) - ROUNDED;
  return Math.max(0, Math.min(took, age));
}

/** Return a signal of when nobody looks at the page any more, or it is left; it is returned once somebody looks. */
async function watched(signal) {
  const turned = (go) => document.addEventListener("visibilitychange", go, { once: true, signal });
  if (document.hidden) await new Promise(turned);
  const spell = new AbortController();
  const end = () => spell.abort();
  document.addEventListener("visibilitychange", end, { signal: spell.signal });
  signal.addEventListener("abort", end, { signal: spell.signal });
  return spell.signal;
}

/**
 * Follow a stack from a cursor on until a signal says so.
 *
 * `seen` is called with each answer, `lost` with whether the service answers. While much happens, there is as
 * much time between two looks as the last one took: what costs the service much is looked at less often. A page
 * that is hidden asks for nothing, for a browser has few connections; the cursor catches up when it is seen again.
 */
export async function follow(stack, cursor, { seen, lost, signal }) {
  let since = cursor;
  async function look(spell) {
    const began = performance.now();
    const { changes } = await get(`${stack}/changes`, { since, wait: WAIT }, spell);
    since = changes.cursor;
    seen(changes);
    return restAfter(changes, performance.now() - began);
  }
  while (!signal.aborted) {
    const spell = await watched(signal);
    while (!spell.aborted) await pause(await untilRead(() => look(spell), { lost, signal: spell }), spell);
  }
}
