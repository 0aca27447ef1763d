/** The scripts of a plan for clusters without SSM: the same steps by the same scripts, which a person runs. */
import type { Plan } from '#model/plan.ts'
import { type CohortScript, cohortScripts } from '#remediate/plan/cohort-script.ts'
import { readScript } from '#remediate/scripts/read-script.ts'

/** @throws OperatorError */
export const scriptsOf = (plan: Plan): CohortScript[] => cohortScripts(plan, readScript)
