// SPDX-License-Identifier: Apache-2.0
// Asking the API. Who asks is known to this module alone, and forgotten when the page is left.

const TOP = new URL("../", import.meta.url);

let project = "default";
let identity = {};

/** An answer that is an error; its message is the sentence that the service has for it. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const currentProject = () => project;

/** Act in a project, by these headers. */
export function enter(name, headers) {
  project = name;
  identity = headers;
}

/** Return the header of a name and a password. */
export function basic(user, password) {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return { Authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** Return what the page is told of the service before anybody has logged in. */
export const settings = async () => (await fetch(new URL("settings.json", import.meta.url))).json();

/** Return a path below the project. */
export const path = (...parts) => parts.map(encodeURIComponent).join("/");

async function ask(method, where, { query = {}, body, signal } = {}) {
  const url = new URL(`v1/${encodeURIComponent(project)}/${where}`, TOP);
  for (const [key, each] of Object.entries(query)) {
    if (each !== undefined && each !== null && each !== "") url.searchParams.set(key, each);
  }
  const answer = await fetch(url, {
    method,
    signal,
    headers: { ...identity, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    body: body === undefined ? undefined : JSON.stringify(body),
    credentials: "omit", // or a browser asks for a password by itself
    cache: "no-cache",
  });
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

export const get = (where, query, signal) => ask("GET", where, { query, signal });
export const post = (where, body) => ask("POST", where, { body });
export const patch = (where, body) => ask("PATCH", where, { body });
export const remove = (where) => ask("DELETE", where);
