// SPDX-License-Identifier: Apache-2.0
// Times in the reader's own zone, and how long ago something was.

import { serviceTime } from "./api.js";
import { h } from "./dom.js";
import { words } from "./words.js";

const LONG = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

const UNITS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];

/** Return how long ago a moment of the service was, whatever the reader's clock says. */
export function ago(text) {
  const seconds = Math.max(0, (serviceTime() - new Date(text)) / 1000);
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ["second", 1];
  return words.ago(Math.floor(seconds / size), unit);
}

/** Return an element that says how long ago a moment was, and when exactly. */
export const since = (text) =>
  text ? h("time", { datetime: text, title: LONG.format(new Date(text)) }, ago(text)) : "";

/** Return an element with the time of the day of a moment; with the day, if that is not today. */
export function clock(text) {
  const moment = new Date(text);
  const today = DAY.format(moment) === DAY.format(new Date());
  const shown = today ? CLOCK.format(moment) : `${DAY.format(moment)} ${CLOCK.format(moment)}`;
  return h("time", { datetime: text, title: LONG.format(moment) }, shown);
}

/** Return a number of seconds as people say it, in words that are "long" or "short". */
export function lasting(seconds, unitDisplay = "long") {
  const [unit, size] = UNITS.find(([, each]) => seconds >= 2 * each) ?? ["second", 1];
  const format = { style: "unit", unit, unitDisplay, maximumFractionDigits: 0 };
  return new Intl.NumberFormat(undefined, format).format(seconds / size);
}
