# SPDX-License-Identifier: Apache-2.0
"""The plugin contract: what a resource type is made of, and the built-in types.

The names that a plugin imports are Heat's, so that a Heat plugin ports by changing its import
lines: begin with ``resource``, then ``properties``, ``attributes``, ``constraints``, ``support``,
``translation``, ``function``, ``rsrc_defn``, ``exception`` and ``i18n``.  Plugins may also use
``netutils``, ``timeutils``, ``short_id`` and ``password_gen``.

A resource is built up in layers: ``core``, ``kept``, ``reading``, ``hooks``, ``updating``,
``handover``.  ``facts`` has what a resource is told, ``context`` has whom it acts for, and
``naming`` has its physical name.  ``driver`` drives a plugin: ``comparing`` says what a change
means, ``declared`` what the type says by what it declares, ``referenced`` what is referred to, and
``gone`` whether an error means that nothing is there.

A value of a property has a ``schema``, ``conversion`` makes it fit, ``common_constraints`` judge
it, and it is ``unknown`` until run time.  ``validation`` finds the mistakes of a definition.
``registry`` finds the types, ``promises`` imports plugins when they are first asked for, ``memory``
keeps for a while what was true, and ``type_template`` writes a template for a type.

A ``stack_resource`` is a stack of its own, which its plugin gets at by ``nested``.  A
``template_resource`` is such a resource, and so is a ``group``: ``group_attributes`` says what the
group tells, ``rolling`` in which order its members change, and ``hiding`` keeps secrets out of its
template.  A ``scaled_group`` loses its oldest members first, and policies change the size of a
``scalable_group`` as ``scaling`` allows.

Signals reach a ``signal_responder``, and ``wait_condition`` keeps those that are waited for.
``stack_user`` and ``own_user`` are resources that may have a user of their own, one of the
``stack_users``.

``software`` gets at configs and deployments, and ``clients`` at services.  ``heat`` and ``aws``
have the built-in types.
"""
