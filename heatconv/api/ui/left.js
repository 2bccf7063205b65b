// SPDX-License-Identifier: Apache-2.0
// How long what is under way in a stack should still take.

import { serviceTime } from "./api.js";

const LEAST = 2; // steps that are done before anything is said
const TOO_SOON = 2000; // milliseconds: moments of the service are whole seconds

const reckoned = new Map(); // by stack: for what was done, when the rest should be

/**
 * Return how many seconds the rest should take, if each step takes as long as those that are done did; null
 * while there is too little to go by, and as soon as that is over.
 *
 * It is reckoned when a step is seen to be done, and less from then on: a stack that is stuck does not seem to
 * take ever longer. When the clearing away after an update began, is not known.
 */
export function secondsLeft({ id, stack_status: state, phase, progress, updated_time: updated, creation_time: created }) {
  const { done, total } = progress ?? {};
  const isFromStart = phase === "UPDATE" || state.startsWith("DELETE_");
  if (!state.endsWith("_IN_PROGRESS") || !isFromStart || !(done >= LEAST) || done >= total) {
    reckoned.delete(id);
    return null;
  }
  const now = serviceTime();
  const began = new Date(updated ?? created).getTime();
  const known = reckoned.get(id);
  if (known?.done !== done || known.began !== began) {
    const took = now - began;
    if (took < TOO_SOON) return null;
    reckoned.set(id, { done, began, over: now + (took / done) * (total - done) });
  }
  const left = reckoned.get(id).over - now;
  return left > 0 ? left / 1000 : null;
}
