// SPDX-License-Identifier: Apache-2.0
// The page: which part of it an address shows, what is above all of them, and who has logged in.

import { notice, unnotice } from "./act.js";
import { untilRead } from "./again.js";
import { actIn, currentProject, get, learn, may, settings, tryOut, whenForgotten } from "./api.js";
import { consoleAt } from "./console.js";
import { button, h, put } from "./dom.js";
import { logIn, logInAgain } from "./login.js";
import { addressOf, overview } from "./overview.js";
import { planPage } from "./plan.js";
import { servicePage } from "./service.js";
import { stackPage } from "./stack.js";
import { words } from "./words.js";

const main = document.getElementById("main");
const top = document.getElementById("top");
const connection = h("span", { class: "connection" });
const names = new Map(); // of projects, by their ids
let login = "none";
let isIn = false;
let isAsked = false; // who one is
let leaving = new AbortController();
const unanswered = new Set(); // readings that have no answer yet

document.title = words.title;
document.getElementById("skip").textContent = words.skip;
document.getElementById("skip").addEventListener("click", (event) => (event.preventDefault(), main.focus()));

/** Say whether what is shown is what is there, as far as one that reads a part of it knows. */
function lost(isLost, reader) {
  if (isLost) unanswered.add(reader);
  else unanswered.delete(reader);
  const isAnyLost = unanswered.size > 0;
  connection.className = `connection ${isAnyLost ? "lost" : "live"}`;
  connection.title = isAnyLost ? words.lostHelp : words.liveHelp;
  connection.textContent = isAnyLost ? words.lost : words.live;
}

/** Say what went wrong; return the sentence, if there is one. */
const failed = (error) => (error.name === "AbortError" ? null : notice(words.failed(error.message)));

function drawTop() {
  put(top,
    h("a", { class: "brand", href: `#/${encodeURIComponent(currentProject())}` },
      h("img", { src: "icon.svg", alt: "", width: 22, height: 22 }), words.title),
    h("span", { class: "quiet" }, `${words.project} ${names.get(currentProject()) ?? currentProject()}`),
    h("span", { class: "spring" }),
    may("service:index") ? h("a", { href: `#/${encodeURIComponent(currentProject())}/service` }, words.service) : null,
    connection,
    login === "none" ? null : button(words.logOut, () => location.reload()));
}

/** Show what the address names. */
async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [project, part, ...rest] = location.hash.slice(2).split("/").map(decodeURIComponent);
  if (!isIn && login !== "none") {
    await enter(project);
    return;
  }
  if (project) actIn(project);
  unnotice();
  unanswered.clear();
  drawTop();
  // Whoever may not even ask what is allowed sees why in the answer to what is asked next.
  await untilRead(learn, { lost, signal }).catch(() => {});
  if (signal.aborted) return;
  drawTop();
  document.title = words.title;
  main.replaceChildren();
  const around = { signal, lost, failed };
  const [name, id, below, resource] = rest;
  if (!part) overview(main, around);
  else if (part === "service") servicePage(main, around);
  else if (part === "plan") planPage(main, null, around);
  else if (part === "stacks" && id && below === "plan") planPage(main, { name, id }, around);
  else if (part === "stacks" && id) stackPage(main, { name, id }, { ...around, open: resource });
  else if (part === "stacks-by-id" && name) untilRead(() => byId(name), around).catch(failed);
  else put(main, h("p", {}, words.nowhere, " ", h("a", { href: "#/" }, words.back)));
  main.focus({ preventScroll: true });
}

/** Have somebody log in, then go where the address leads, or home if that is in a project of others. */
async function enter(project) {
  if (isAsked) return;
  isAsked = true;
  const { home, name, headers } = await logIn(main, login, project);
  names.set(home, name ?? home);
  whenForgotten(() => logInAgain(login));
  isIn = true;
  const isTheirs = project && project !== home && (await tryOut(project, headers).then(() => false, () => true));
  actIn(project && !isTheirs ? project : home);
  if (isTheirs) history.replaceState(null, "", `#/${encodeURIComponent(home)}`);
  show();
}

/** Go to a stack that is known by its id alone. */
async function byId(id) {
  const { stacks } = await get("stacks", { id, show_nested: "true", limit: 1 });
  if (!stacks.length) notice(words.gone, "going");
  else location.replace(addressOf({ name: stacks[0].stack_name, id }));
}

window.addEventListener("hashchange", show);
window.addEventListener("unhandledrejection", (event) => failed(event.reason));
settings().then((found) => ((login = found.login), consoleAt(found.console), show()));
