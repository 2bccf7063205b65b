# SPDX-License-Identifier: Apache-2.0
"""Where the parts are put together, the same for daemons, simulations, tests and benchmarks.

``engine`` puts an engine together.  ``engine_service`` takes the engine to the bus, where
``endpoints`` finds the part of the engine that answers a call.  ``worker`` puts a worker together.
``worker_service`` takes the worker to the bus, and runs its checks on a pool of threads.
``serving`` says how a daemon takes its messages from the bus.
"""
