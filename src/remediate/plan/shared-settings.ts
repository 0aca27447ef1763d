/**
 * How a plan's file stays small: fields of `others` that all steps of a cohort share are written once, at the cohort. Only the file has
 * this form. The digest covers the whole steps.
 */
import type { Plan, PlanCohort, PlanStep } from '#model/plan.ts'

type RunningSettings = Record<string, string>

/** The form of a plan in its file. */
export interface WrittenPlan extends Omit<Plan, 'cohorts'> {
  cohorts: (PlanCohort & { others?: RunningSettings | undefined })[]
}

export function withSharedSettings(plan: Plan): WrittenPlan {
  const steps = Map.groupBy(plan.steps, ({ cohort }) => cohort)
  const shared = new Map(plan.cohorts.map(({ id }) => [id, sharedBy(steps.get(id) ?? [])]))
  return {
    ...plan,
    cohorts: plan.cohorts.map(cohort => {
      const others = shared.get(cohort.id) ?? {}
      return Object.keys(others).length === 0 ? cohort : { ...cohort, others }
    }),
    steps: plan.steps.map(step => withoutShared(step, shared.get(step.cohort) ?? {})),
  }
}

export function withOwnSettings({ cohorts, ...plan }: WrittenPlan): Plan {
  const shared = new Map(cohorts.map(({ id, others }) => [id, others]))
  return {
    ...plan,
    cohorts: cohorts.map(({ others: _, ...cohort }) => cohort),
    steps: plan.steps.map(step =>
      step.others === undefined
        ? step
        : { ...step, others: { ...shared.get(step.cohort), ...step.others } },
    ),
  }
}

/** Fields that each of these steps has, with the same digest. */
function sharedBy(steps: readonly PlanStep[]): RunningSettings {
  const [first, ...rest] = steps.flatMap(({ others }) => (others === undefined ? [] : [others]))
  return Object.fromEntries(
    Object.entries(first ?? {}).filter(([field, digest]) =>
      rest.every(others => Object.hasOwn(others, field) && others[field] === digest),
    ),
  )
}

function withoutShared(step: PlanStep, shared: RunningSettings): PlanStep {
  if (step.others === undefined) return step
  const own = Object.entries(step.others).filter(([field]) => !Object.hasOwn(shared, field))
  return { ...step, others: Object.fromEntries(own) }
}
