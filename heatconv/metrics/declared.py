# SPDX-License-Identifier: Apache-2.0
"""Every metric there is: its name, what it means, its labels.

In the order of the reference, which is made of this.
"""

from __future__ import annotations

from heatconv.metrics import instruments
from heatconv.metrics.instruments import Counter, Gauge, Histogram

QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SLOW = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14400)
NUMBERS = (1, 2, 4, 8, 16, 32, 64)

# -- what is asked, and what is done ---------------------------------------------------------------

TRAVERSALS = Counter(
    "heatconv_traversals_total",
    "Traversals of stacks, nested ones included: begun, complete, failed. One that a newer wish overtakes "
    "only begins.",
    ["action", "outcome"],
)
ACTIONS = Counter(
    "heatconv_resource_actions_total",
    "Actions on resources that have ended, complete or failed.",
    ["type", "action", "outcome"],
)
ACTION_SECONDS = Histogram(
    "heatconv_resource_action_seconds",
    "Seconds from when a worker had claimed a row until it recorded the end of the action.",
    ["action"],
    buckets=SLOW,
)
CLAIM_SECONDS = Histogram(
    "heatconv_claim_wait_seconds",
    "Seconds from when a node was READY, or was rung for again, until a worker had claimed its row.",
    buckets=QUICK,
)
CLAIMS = Counter(
    "heatconv_claims_total",
    "Attempts of workers to claim the row of a node: claimed; following (claimed with the end of another); "
    "busy (a live worker holds it); idle (there is nothing to do, or another was faster).",
    ["outcome"],
)
CHECKS = Counter(
    "heatconv_checks_total",
    "Ends of checks: propagated, superseded (recorded, but overtaken by a newer traversal), failed, "
    "fenced (void, since the lock was broken).",
    ["outcome"],
)
ACTION_ERRORS = Counter(
    "heatconv_resource_errors_total",
    "Errors that plugins raised, and what was made of them: again (it may pass), anew (made anew), "
    "nothing_there (of a deletion), failed.",
    ["type", "action", "verdict"],
)
RESUMED = Counter(
    "heatconv_resource_actions_resumed_total",
    "Actions that a worker took up which it, or another, had begun.",
    ["action"],
)
RACES_LOST = Counter(
    "heatconv_traversal_races_lost_total",
    "Traversals that were decided on anew, since another request for the same stack was faster.",
)

# -- recovery --------------------------------------------------------------------------------------

TAKEOVERS = Counter("heatconv_takeovers_total", "Locks of dead workers that this engine has broken.")
RUNG_AGAIN = Counter(
    "heatconv_nodes_rung_again_total",
    "Nodes that this engine has rung for again, since nobody had claimed them for ready_grace seconds.",
)
OVERDUE = Counter(
    "heatconv_traversals_overdue_total", "Traversals that this engine has ended at their deadline."
)

# -- a worker, now ---------------------------------------------------------------------------------

QUEUED = Gauge("heatconv_worker_queued_nodes", "Nodes in this worker's fair queue: they wait for a thread.")
HELD = Gauge(
    "heatconv_worker_held_rows", "Rows that this worker holds while their actions go on in the real world."
)
BUSY = Gauge("heatconv_worker_busy_threads", "Threads of this worker that have something to do.")
THREADS = Gauge("heatconv_worker_threads", "Threads that this worker has: [worker] threads.")

# -- all of it, now, as an engine reads it from the database ---------------------------------------

OLDEST_READY = Gauge(
    "heatconv_oldest_ready_seconds",
    "Seconds since the node that has waited longest for a worker was READY, or was rung for again, among the "
    "5,000 that are READY for longest; 0 if none waits.",
)
OLDEST_TRAVERSAL = Gauge(
    "heatconv_oldest_traversal_seconds",
    "Seconds since the oldest traversal under way began, among the 1,000 nearest to their deadlines; 0 if "
    "there is none.",
)
LONGEST_ACTION = Gauge(
    "heatconv_longest_action_seconds",
    "Seconds since the longest of the actions under way began, among 5,000; 0 if there is none.",
)
DAEMONS = Gauge(
    "heatconv_daemons",
    "Daemons that are signed on, alive (yes) or dead (no: they have not heartbeat for too long, and none of "
    "their kind has come up on their host since).",
    ["binary", "alive"],
)
BACKLOG = Gauge("heatconv_backlog_nodes", "Nodes in the fair queues of all workers that are alive.")
OBSERVATION_LATE = Gauge(
    "heatconv_observation_lateness_seconds",
    "Seconds since the stack that has waited longest was due to be observed; 0 if none is due.",
)

# -- observing -------------------------------------------------------------------------------------

OBSERVATIONS = Counter(
    "heatconv_observations_total",
    "Resources that were looked at: seen, or unseen since their service did not answer.",
    ["outcome"],
)
OBSERVATION_FAILURES = Counter(
    "heatconv_observation_failures_total",
    "Calls about many resources of a type that failed; the service is left alone for a while after each.",
    ["type"],
)
LEFT_ALONE = Gauge(
    "heatconv_observed_services_left_alone",
    "Types, by project, whose service this engine does not ask for the time being, since it failed.",
)
DRIFT = Counter(
    "heatconv_drift_total",
    "What was news of observed resources: missing, error, changed, unexpected, or in_sync again.",
    ["type", "finding"],
)
HEALS = Counter("heatconv_heals_total", "Traversals that were begun to heal a stack.")
HEALED = Counter("heatconv_healed_resources_total", "Resources that such traversals were begun for.")

# -- services and sinks ----------------------------------------------------------------------------

SERVICE_CALLS = Counter(
    "heatconv_service_calls_total",
    "Requests to a cloud's services, by type of service and status of the answer; none: there was no answer. "
    "A service that throttles answers 429, or 503.",
    ["service", "method", "status"],
)
SINK_EVENTS = Counter(
    "heatconv_sink_events_total",
    "Events for event sinks, by kind of sink: delivered, or failed, to be tried again.",
    ["sink", "outcome"],
)

# -- the database ----------------------------------------------------------------------------------

TRANSACTIONS = Counter(
    "heatconv_database_transactions_total",
    "Transactions: committed, undone (on purpose, or for an error of a user's), deadlock and disconnected "
    "(both are tried again), error.",
    ["kind", "outcome"],
)
TRANSACTION_SECONDS = Histogram(
    "heatconv_database_transaction_seconds",
    "Seconds that a transaction took, of whichever outcome.",
    ["kind"],
    buckets=QUICK,
)
GROUP_SIZE = Histogram(
    "heatconv_database_group_size", "Calls that shared one transaction (group commit).", buckets=NUMBERS
)
CONNECTIONS = Counter(
    "heatconv_database_connections_opened_total", "Connections to the database that were opened."
)

# -- the bus ---------------------------------------------------------------------------------------

CASTS = Counter(
    "heatconv_bus_casts_total",
    "Messages that were rung with: sent, failed (recovery rings again), or not understood by a daemon of the "
    "release before, and left out.",
    ["method", "outcome"],
)
ENGINE_CALLS = Counter(
    "heatconv_engine_calls_total",
    "Calls to engines, each time one was asked: answered, refused (the answer is an error), silent (another "
    "is asked), failed (the bus, or no engine is there).",
    ["method", "outcome"],
)
SERVED = Counter(
    "heatconv_bus_requests_total",
    "Messages that were taken from the bus: done, refused (an error of a user's), error.",
    ["method", "outcome"],
)
SERVED_SECONDS = Histogram(
    "heatconv_bus_request_seconds",
    "Seconds that a message from the bus took this process.",
    ["method"],
    buckets=QUICK,
)
BUS_BROKEN = Counter(
    "heatconv_bus_connection_errors_total", "Uses of a connection to the bus that failed and were repeated."
)

# -- the API ---------------------------------------------------------------------------------------

API_REQUESTS = Counter(
    "heatconv_api_requests_total",
    "Requests that were answered, by route and class of status; a request that is held counts when it is "
    "answered.",
    ["method", "route", "status"],
)
API_SECONDS = Histogram(
    "heatconv_api_request_seconds",
    "Seconds until a request was answered, without the time that it was held.",
    ["method", "route"],
    buckets=QUICK,
)

ALL = tuple(instruments.declared())
