/** An incident through the audit: its document, its mail and its page's causes. */
import { once } from '#base/once.ts'
import { rules } from '#judge/rules/index.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type AuditResult, audit } from '#pipeline/audit/audit.ts'
import { json } from '#report/formats/index.ts'
import { renderMail } from '#report/mail/mail.ts'
import { prune } from '#snapshot/prune.ts'
import type { Incident } from './incident.ts'
import { recordsOf } from './world.ts'

export interface Judged extends AuditResult {
  /** Rendered when they are first read: most tests read neither. */
  mail(): string
  findingsJson(): string
}

export async function judgedIncident(
  { world }: Incident,
  records: SnapshotRecord[] = recordsOf(world),
): Promise<Judged> {
  const result = await audit(arriving(records), {
    ...{ source: 'snapshot', version: '0.0.0', policy: defaultPolicy, rules },
    ...{ formats: [], channels: [], audiences: [], history: null, snapshot: null },
    options: { allNodes: true },
  })
  const { report } = result
  return {
    ...result,
    mail: once(() => renderMail(report, []).text.replaceAll('\u00a0', ' ')),
    findingsJson: once(() => json.render(report)),
  }
}

/** As a snapshot keeps them. */
async function* arriving(records: SnapshotRecord[]) {
  for (const record of records) yield prune(record)
}
