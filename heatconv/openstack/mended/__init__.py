# SPDX-License-Identifier: Apache-2.0
"""What Heat's plugins do otherwise here: one module per mistake, or per plugin that makes it.

Each module has classes to be put in front of Heat's, or functions that mend a client;
``heatconv.openstack.mends`` says for which type or client each one is.
"""
