# SPDX-License-Identifier: Apache-2.0
"""What goes in the end, and by whom.

``deleted_stacks`` go with all that is theirs; ``leftovers`` are rows that belong to nothing any more.
``dropping`` is how some rows of a table go, ``pace`` how whoever purges gives way, and ``turn`` which
engine does it.

Nothing of this goes anywhere else, but for what whoever ends something drops at once:

* the graph, sync points and inputs of a traversal, and the templates before the last one, with the
  traversal (``heatconv.db.convergence``);
* the row of a resource with its deletion, a wish with what carries it out;
* a delegation, once it is given back, however long its stack is gone: until then it is all that is
  known of something in Keystone;
* the answer to a request, by the recovery tick, when nobody can ask again;
* what a sink has got, and a sink that nothing comes for, with its turn (``heatconv.db.delivery``);
* software configs and deployments are users' own, and go when these say so.
"""
