# SPDX-License-Identifier: Apache-2.0
"""What was built keeps being compared with what was asked, and is healed where that is wanted.

``policies``, where that is wanted; ``observer``, when what is looked at; ``observing``, what is seen
then; ``healing``, what is put right; ``notifications``, what services say of themselves;
``drift_requests``, what users ask; ``restored``, what is looked at once, after the database was
restored from a dump.
"""
