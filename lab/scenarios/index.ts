/** Every scenario by its name. */
import { faults } from './faults.ts'
import { fleet } from './fleet.ts'
import { garbage } from './garbage.ts'
import { incidents } from './incidents.ts'
import { probe } from './probe.ts'
import { recorded } from './recorded.ts'
import { remediationScenario } from './remediation.ts'
import type { Scenario } from './scenario.ts'

export const scenarios: readonly Scenario[] = [
  faults,
  fleet({ nodes: 200 }),
  garbage,
  incidents,
  probe,
  recorded,
  remediationScenario(),
]

/** @throws Error that names the known ones when there is none of that name. */
export function scenarioNamed(name: string): Scenario {
  const found = scenarios.find(scenario => scenario.name === name)
  if (!found)
    throw new Error(
      `no scenario is named ${name}; there are ${scenarios.map(scenario => scenario.name).join(', ')}`,
    )
  return found
}
