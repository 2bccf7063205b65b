// SPDX-License-Identifier: Apache-2.0
// Reading again: until there is an answer, soon after something has changed, or now and then.

const FIRST_PAUSE = 1000; // milliseconds
const LONGEST_PAUSE = 30000;
const NO_ANSWER = [undefined, 502, 503, 504]; // of anybody, or of the service behind a proxy
const REFUSED = [401, 403, 404];

/** Tell whether who asks again is refused again. */
export const isRefused = ({ status }) => REFUSED.includes(status);

/** Resolve after some time, or as soon as a signal says that nobody waits any more. */
export const pause = (milliseconds, signal) =>
  new Promise((go) => {
    const over = () => (clearTimeout(timer), signal.removeEventListener("abort", over), go());
    const timer = setTimeout(over, milliseconds);
    signal.addEventListener("abort", over);
  });

/**
 * Return what a reading comes to; null, if a signal says that nobody waits for it any more.
 *
 * A reading that fails is done again, less and less often, until it succeeds; meanwhile `lost` knows of it. One
 * that is refused is not: that is thrown.
 */
export async function untilRead(read, { lost, signal }) {
  try {
    for (let wait = FIRST_PAUSE; !signal.aborted; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
      try {
        return await read();
      } catch (error) {
        if (signal.aborted) break;
        if (isRefused(error)) throw error;
        lost(true, read);
        await pause(wait, signal);
      }
    }
    return null;
  } finally {
    lost(false, read);
  }
}

/** Return a function that reads a part of a page; a part that one may not see is hidden then, and not read again. */
export function ifAllowed(part, read) {
  let isDenied = false;
  return async () => {
    if (isDenied) return;
    try {
      await read();
    } catch (error) {
      if (error.status !== 403) throw error;
      part.hidden = isDenied = true;
    }
  };
}

/**
 * Return a function that has something read soon, never twice at a time, and the dearer it is the less often.
 *
 * It is read after `least` milliseconds, and left alone after that for `share` times as long as it took.
 */
export function calmly(read, { lost, failed, signal }, { least = 700, share = 4 } = {}) {
  let timer = null;
  let running = false;
  let again = false;
  let rested = 0; // when it has been left alone for long enough
  async function timed() {
    const began = performance.now();
    await read();
    const ended = performance.now();
    rested = ended + share * (ended - began);
  }
  async function run() {
    timer = null;
    running = true;
    await untilRead(timed, { lost, signal }).catch(failed);
    running = false;
    if (again) soon();
  }
  function soon() {
    again = running;
    if (!running && !signal.aborted) timer ??= setTimeout(run, Math.max(least, rested - performance.now()));
  }
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return soon;
}

/**
 * Return a function that has something read now, and then again and again, as long as somebody looks at the page.
 *
 * `show` is called with what has been read, unless it has been read anew meanwhile; `rest` says for how long it is
 * left alone then. What goes wrong is said until it does not any more.
 */
export function nowAndThen({ read, show, rest }, { lost, failed, signal }) {
  let timer = null;
  let turn = 0;
  let said = null;
  async function look() {
    clearTimeout(timer);
    const mine = (turn += 1);
    const isOver = () => mine !== turn || signal.aborted;
    try {
      const found = await read();
      if (isOver()) return;
      lost(false, look);
      said?.remove();
      await show(found);
    } catch (error) {
      if (isOver()) return;
      const isLost = NO_ANSWER.includes(error.status);
      lost(isLost, look);
      if (!isLost) said = failed(error);
    }
    if (!isOver() && !document.hidden) timer = setTimeout(look, rest());
  }
  document.addEventListener("visibilitychange", () => document.hidden || look(), { signal });
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return look;
}
