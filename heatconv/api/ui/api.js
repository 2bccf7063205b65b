// SPDX-License-Identifier: Apache-2.0
// Asking the API. Who asks is known to this module alone, and forgotten when the page is left.

const TOP = new URL("../", import.meta.url);

let project = "default";
let identity = {};
let renew = null; // asks who somebody is, who was known before
let renewing = null;
let allowed = { of: null, rules: new Set() };
let ahead = 0; // milliseconds by which the service's clock is before this one's

/** An answer that is an error; its message is the sentence that the service has for it. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const currentProject = () => project;

/** Return the time by the service's clock, in milliseconds. */
export const serviceTime = () => Date.now() + ahead;

/** Act in a project. */
export const actIn = (name) => (project = name);

/** Be known by these headers from now on. */
export const beKnownBy = (headers) => (identity = headers);

/** Have somebody asked who it is, by a function, when a token or a password is not accepted any more. */
export const whenForgotten = (work) => (renew = work);

/** Return the header of a name and a password. */
export function basic(user, password) {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return { Authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** Return what the page is told of the service before anybody has logged in. */
export const settings = async () => (await fetch(new URL("settings.json", import.meta.url))).json();

/** Return a path below the project. */
export const path = (...parts) => parts.map(encodeURIComponent).join("/");

const send = (method, url, { headers, body, signal }) =>
  fetch(url, {
    method,
    signal,
    headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    body: body === undefined ? undefined : JSON.stringify(body),
    credentials: "omit", // or a browser asks for a password by itself
    cache: "no-cache",
  });

async function read(answer) {
  const date = answer.headers.get("Date");
  if (date) ahead = new Date(date) - Date.now();
  const text = await answer.text();
  let found = null;
  try {
    found = text ? JSON.parse(text) : null;
  } catch {
    throw new ApiError(answer.status, `${answer.status} ${answer.statusText}`);
  }
  if (!answer.ok) throw new ApiError(answer.status, found?.error?.message ?? `${answer.status}`);
  return found;
}

function place(name, where, query = {}) {
  const url = new URL(`v1/${encodeURIComponent(name)}/${where}`, TOP);
  for (const [key, each] of Object.entries(query)) {
    if (each !== undefined && each !== null && each !== "") url.searchParams.set(key, each);
  }
  return url;
}

async function ask(method, where, { query, body, signal, of = project } = {}) {
  const url = place(of, where, query);
  const answer = await send(method, url, { headers: identity, body, signal });
  if (answer.status !== 401 || !renew) return read(answer);
  // Whoever waits for an answer goes on where it was, once it is known again who asks.
  renewing ??= renew().finally(() => (renewing = null));
  await renewing;
  return read(await send(method, url, { headers: identity, body, signal }));
}

/** Make sure that who sends these headers may look at a project. */
export const tryOut = async (name, headers) => read(await send("GET", place(name, "stacks", { limit: 1 }), { headers }));

/** Learn what one may do in the project; by the names of the policy's rules. */
export async function learn() {
  const of = project;
  if (allowed.of === of) return;
  const { permissions } = await get("permissions");
  allowed = { of, rules: new Set(permissions) };
}

/** Have it learned anew: somebody else may be asking. */
export const unlearn = () => (allowed.of = null);

/** Tell whether one may do what some rules are for, all of them. */
export const may = (...rules) => rules.every((each) => allowed.rules.has(each));

/** Get a token of Keystone; the service passes on what is sent. */
export const tokenFor = async (sent) => read(await send("POST", new URL("login", import.meta.url), { body: sent }));

export const get = (where, query, signal, of) => ask("GET", where, { query, signal, of });
export const post = (where, body) => ask("POST", where, { body });
export const patch = (where, body) => ask("PATCH", where, { body });
export const remove = (where) => ask("DELETE", where);
