/** How many nodes the policy has approved on a day, in the store, so that two runs at once do not approve twice as many as it allows. */
import type { Store } from '#clients/store.ts'
import { OperatorError } from '#model/operator-error.ts'
import type { Plan } from '#model/plan.ts'
import type { AutoApproval } from '#model/policy.ts'
import { isRawObject } from '#model/record.ts'
import { type AutoApproved, autoApprove } from './auto-approve.ts'

interface Ledger {
  schema: 'highwater.approved/1'
  /** Nodes by the plan's digest. */
  plans: Record<string, number>
}

const rounds = 10
/** UTC. */
const ledgerKey = (now: Date): string => `remediation/approved/${now.toISOString().slice(0, 10)}.json`

/** The same plan twice counts once. @throws what the store throws, and OperatorError when what lies there is no such list */
export async function approveToday(store: Store, plan: Plan, auto: AutoApproval | null, now: Date): Promise<AutoApproved> {
  const first = autoApprove(plan, auto, 0, now)
  if ('why' in first) return first
  const key = ledgerKey(now)
  for (let round = 0; round < rounds; round++) {
    const found = await store.read(key)
    const plans = found === null ? {} : plansOf(found.body.toString('utf8'), `${store.location}/${key}`)
    const others = Object.entries(plans).filter(([digest]) => digest !== plan.digest)
    const answer = autoApprove(
      plan,
      auto,
      others.reduce((sum, [, nodes]) => sum + nodes, 0),
      now,
    )
    if ('why' in answer || Object.hasOwn(plans, plan.digest)) return answer
    const next: Ledger = { schema: 'highwater.approved/1', plans: { ...plans, [plan.digest]: plan.steps.length } }
    const text = `${JSON.stringify(next)}\n`
    const isWritten =
      found === null ? await store.create(key, text, 'application/json') : await store.replace(key, text, 'application/json', found.version)
    if (isWritten) return answer
  }
  return { why: `${store.location}/${key} was changed again and again: ask for it once more` }
}

function plansOf(text: string, place: string): Record<string, number> {
  const ledger = parsed(text)
  const plans = isRawObject(ledger) && ledger.schema === 'highwater.approved/1' && isRawObject(ledger.plans) ? ledger.plans : null
  const counts = Object.entries(plans ?? {}).flatMap(([digest, nodes]) =>
    typeof nodes === 'number' && nodes >= 0 ? [[digest, nodes] as const] : [],
  )
  if (plans === null || counts.length !== Object.keys(plans).length)
    throw new OperatorError(
      `${place} does not say how many nodes were approved today, so the policy approves none. Remove it to begin anew`,
      {
        isBadInput: false,
      },
    )
  return Object.fromEntries(counts)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
