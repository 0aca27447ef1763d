/** An incident through the audit: its document, its mail and its page's causes. */
import { rules } from '#judge/rules/index.ts'
import type { SnapshotRecord } from '#model/input/record.ts'
import { defaultPolicy } from '#model/policy.ts'
import { type AuditResult, audit } from '#pipeline/audit/audit.ts'
import { formats } from '#report/formats/index.ts'
import { renderMail } from '#report/mail/mail.ts'
import { prune } from '#snapshot/prune.ts'
import type { Incident } from './incident.ts'
import { recordsOf } from './world.ts'

export interface Judged extends AuditResult {
  mail: string
  findingsJson: string
}

export async function judgedIncident(
  { world }: Incident,
  records: SnapshotRecord[] = recordsOf(world),
): Promise<Judged> {
  const result = await audit(arriving(records), {
    ...{ source: 'snapshot', version: '0.0.0', policy: defaultPolicy, rules },
    formats: formats.filter(({ id }) => id === 'json'),
    ...{ channels: [], audiences: [], history: null, snapshot: null },
    options: { allNodes: true },
  })
  const [json] = result.files
  return {
    ...result,
    mail: renderMail(result.report, []).text.replaceAll('\u00a0', ' '),
    findingsJson: String(json?.body ?? ''),
  }
}

/** As a snapshot keeps them. */
async function* arriving(records: SnapshotRecord[]) {
  for (const record of records) yield prune(record)
}
