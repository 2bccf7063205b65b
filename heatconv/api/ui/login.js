// SPDX-License-Identifier: Apache-2.0
// Saying who one is. What is entered is kept in memory alone.

import { basic, enter, get } from "./api.js";
import { h, put } from "./dom.js";
import { words } from "./words.js";

const field = (label, input) => [h("label", { for: input.id }, label), input];

/** Ask who somebody is, in the way that the service has it; resolve once that was accepted. */
export function logIn(main, kind, project) {
  return new Promise((done) => {
    const user = h("input", { id: "user", autocomplete: "username", required: true });
    const password = h("input", { id: "password", type: "password", autocomplete: "current-password", required: true });
    const token = h("textarea", { id: "token", rows: 4, required: true, spellcheck: "false", autocomplete: "off" });
    const place = h("input", { id: "project", value: project ?? "", required: true, autocomplete: "off" });
    const wrong = h("p", { class: "reason broken", role: "alert", hidden: true });
    const ways = {
      basic: [h("p", { class: "quiet" }, words.basicHelp), field(words.user, user), field(words.password, password)],
      token: [
        h("p", { class: "quiet" }, words.tokenHelp), field(words.token, token),
        field(words.project, place), h("p", { class: "quiet" }, words.projectHelp),
      ],
    };
    const form = h("form", { class: "login", submit: send }, h("h1", {}, words.logIn), ways[kind], wrong,
      h("div", { class: "choices" }, h("button", { type: "submit", class: "primary" }, words.logIn)));
    put(main, form);
    form.querySelector("input, textarea").focus();

    async function send(event) {
      event.preventDefault();
      wrong.hidden = true;
      const name = user.value;
      if (kind === "basic") enter(name.slice(name.lastIndexOf("@") + 1), basic(name, password.value));
      else enter(place.value.trim(), { "X-Auth-Token": token.value.trim() });
      try {
        await get("stacks", { limit: 1 });
        done();
      } catch (error) {
        enter("", {});
        wrong.hidden = false;
        wrong.textContent = error.message || words.refused;
      }
    }
  });
}
