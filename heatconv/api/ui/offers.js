// SPDX-License-Identifier: Apache-2.0
// What can be done in which state: what the engine would refuse is not offered.

const ASLEEP = ["SUSPEND_COMPLETE", "SUSPEND_FAILED", "RESUME_FAILED"]; // all of it, or some

const isMoving = (state) => state.endsWith("_IN_PROGRESS");
const isOf = (state, ...actions) => actions.some((each) => state.startsWith(`${each}_`));

/** Tell whether what has drifted in a stack can be put right; in a nested one, the stack around it does. */
const canConverge = ({ stack_status: state, parent }) => !parent && !isOf(state, "SUSPEND", "DELETE");

/** Tell whether a stack in a state can be made what a template or a snapshot wants. */
export const canChange = (state) => !isOf(state, "SUSPEND") && state !== "DELETE_COMPLETE";

const those = (offers) => Object.keys(offers).filter((each) => offers[each]);

/** Return the actions that a stack takes. */
export function offersOfStack(stack) {
  const state = stack.stack_status;
  const isAtRest = !isMoving(state) && !isOf(state, "DELETE");
  return those({
    update: canChange(state),
    cancel_update: state === "UPDATE_IN_PROGRESS",
    cancel_without_rollback: isMoving(state) && isOf(state, "CREATE", "UPDATE"),
    rollback: isOf(state, "UPDATE") || state.endsWith("_FAILED"),
    observe: isAtRest,
    converge: isAtRest && canConverge(stack),
    check: isAtRest,
    resume: ASLEEP.includes(state),
    suspend: isAtRest && state !== "SUSPEND_COMPLETE",
    delete: state !== "DELETE_COMPLETE",
  });
}

/** Return the actions that a resource in a state takes, of a stack; whether it takes signals, depends on its type. */
export function offersOfResource(stack, state) {
  const isThere = !isMoving(state) && !isOf(state, "INIT") && !isOf(stack.stack_status, "DELETE");
  return those({
    observe: isThere,
    converge: isThere && canConverge(stack),
    unhealthy: isThere && state !== "CHECK_FAILED",
    healthy: isThere && state === "CHECK_FAILED",
  });
}
