# SPDX-License-Identifier: Apache-2.0
"""The built-in types OS::Heat::*, which need no cloud: one module per type.

Begin with ``value``, a simple one.  Two modules are no type: ``software_io`` has the inputs and
outputs of a software config, and ``derived_config`` has the config that a deployment derives for
one run.
"""
