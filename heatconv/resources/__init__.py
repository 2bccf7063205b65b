# SPDX-License-Identifier: Apache-2.0
"""The plugin contract: what a resource type is made of, and the built-in types.

The names a plugin imports are Heat's: ``resource``, ``properties``,
``attributes``, ``constraints``, ``support``, ``translation``, ``function``,
``rsrc_defn``, ``exception`` and ``i18n``, so that a Heat plugin ports by
changing its import lines.  ``registry`` finds the types, ``validation`` tells
the mistakes of a definition before anything is done, ``facts`` is what a
resource is told about its stack and itself.
"""
