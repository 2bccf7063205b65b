// SPDX-License-Identifier: Apache-2.0
// Saying who one is. What is entered is kept in memory alone, and a password not even there.

import { basic, beKnownBy, tokenFor, tryOut, unlearn } from "./api.js";
import { h, put } from "./dom.js";
import { words } from "./words.js";

const remembered = { way: "password" }; // for the next time: nothing that is secret

const field = (label, id, more = {}) => {
  const usual = remembered[id] ?? "";
  const input = h("input", { id, type: "text", required: true, autocomplete: "off", value: usual, ...more });
  return [h("label", { for: id }, label), input];
};
const secret = (label, id, more = {}) => field(label, id, { type: "password", value: "", ...more });
const help = (text) => h("p", { class: "quiet" }, text);
const beside = (...fields) => h("div", { class: "pair" }, fields.map((each) => h("div", {}, each)));

/** What is asked, by the way to log in; the ids of the fields are the keys of what is entered. */
const FIELDS = {
  basic: () => [
    help(words.basicHelp),
    field(words.user, "user", { autocomplete: "username" }),
    secret(words.password, "password", { autocomplete: "current-password" }),
  ],
  password: () => [
    beside(
      field(words.user, "user", { autocomplete: "username" }),
      field(words.userDomain, "user_domain", { value: remembered.user_domain ?? words.usualDomain })),
    secret(words.password, "password", { autocomplete: "current-password" }),
    beside(
      field(words.projectName, "project"),
      field(words.projectDomain, "project_domain", { value: remembered.project_domain ?? words.usualDomain })),
    help(words.keystoneHelp),
  ],
  credential: () => [
    field(words.credentialId, "credential_id"),
    secret(words.credentialSecret, "credential_secret"),
    help(words.keystoneHelp),
  ],
  token: (project) => [
    help(words.tokenHelp),
    h("label", { for: "token" }, words.token),
    h("textarea", { id: "token", rows: 4, required: true, spellcheck: "false", autocomplete: "off" }),
    field(words.project, "project_id", { value: remembered.project_id ?? project ?? "" }),
    help(words.projectHelp),
  ],
};

/** Return the project that somebody is at home in, and the headers by which the service knows who it is. */
async function accepted(way, entered) {
  if (way === "basic") {
    const home = entered.user.slice(entered.user.lastIndexOf("@") + 1);
    return { home, headers: basic(entered.user, entered.password) };
  }
  if (way === "token") return { home: entered.project_id, headers: { "X-Auth-Token": entered.token } };
  const { token, project } = await tokenFor(entered);
  return { home: project.id, name: project.name, headers: { "X-Auth-Token": token } };
}

/** Return the form by which somebody says who it is; `done` is called once that was accepted. */
function form(title, text, kind, project, done) {
  let way = kind === "keystone" ? remembered.way : "basic";
  const wrong = h("p", { class: "reason broken", role: "alert", hidden: true });
  const fields = h("div", { class: "fields" });
  const go = h("button", { type: "submit", class: "primary" }, words.logIn);
  const choose = (chosen) => {
    way = chosen;
    wrong.hidden = true;
    put(fields, FIELDS[way](project));
  };
  const choice = (each) => {
    const radio = { type: "radio", name: "way", value: each, checked: each === way, change: () => choose(each) };
    return h("label", {}, h("input", radio), " ", words.ways[each]);
  };
  choose(way);
  return h("form", { class: "login", submit: send },
    h("h1", { id: "login-title" }, title), text ? help(text) : null,
    kind === "keystone" ? h("fieldset", { class: "ways" },
      h("legend", { class: "unseen" }, words.wayToLogIn), ["password", "credential", "token"].map(choice)) : null,
    fields, wrong, h("div", { class: "choices" }, go));

  async function send(event) {
    event.preventDefault();
    wrong.hidden = true;
    go.disabled = true;
    const entries = [...fields.querySelectorAll("input, textarea")];
    const entered = Object.fromEntries(
      entries.map(({ id, type, value }) => [id, type === "password" ? value : value.trim()]));
    try {
      const found = await accepted(way, entered);
      await tryOut(found.home, found.headers);
      const open = entries.filter(({ id, type }) => type === "text" && id !== "token");
      Object.assign(remembered, { way }, Object.fromEntries(open.map(({ id }) => [id, entered[id]])));
      beKnownBy(found.headers);
      unlearn();
      done(found);
    } catch (error) {
      wrong.hidden = false;
      wrong.textContent = error.message || words.refused;
      go.disabled = false;
    }
  }
}

/** Ask who somebody is, in place of everything else; resolve once that was accepted. */
export function logIn(main, kind, project) {
  return new Promise((done) => {
    put(main, form(words.logIn, null, kind, project, done));
    main.querySelector(".fields input, .fields textarea").focus();
  });
}

/** Ask once more, above what is shown, which stays as it is. */
export function logInAgain(kind) {
  return new Promise((done) => {
    let isOut = true;
    const dialog = h("dialog", {
      class: "again", "aria-labelledby": "login-title", close: () => isOut && dialog.showModal(),
    });
    const known = () => {
      isOut = false;
      dialog.close();
      dialog.remove();
      done();
    };
    dialog.append(form(words.logInAgain, words.logInAgainHelp, kind, null, known));
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector("input[type=password], textarea").focus();
  });
}
