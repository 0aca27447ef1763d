/** Prints how well an audit explains each incident. `npx --no -- node test/incidents/score.ts [NAME]`: with a name, its mail, too. */
import { incidents } from './cases/index.ts'
import { judgedIncident } from './judged.ts'

const [wanted] = process.argv.slice(2)
for (const incident of incidents.filter(({ name }) => wanted === undefined || name === wanted)) {
  const { document, mail } = await judgedIncident(incident)
  const severe = document.findings.filter(
    ({ severity }) => severity === 'critical' || severity === 'high',
  )
  const said = (incident.words ?? []).filter(word => word.test(mail)).length
  const misled = (incident.never ?? []).filter(word => word.test(mail)).length
  console.log(
    `${incident.name.padEnd(34)} words ${said}/${incident.words?.length ?? 0} misled ${misled}  ${severe.map(({ rule }) => rule).join(' ')}`,
  )
  if (wanted !== undefined)
    console.log(
      mail,
      JSON.stringify(
        document.findings.map(({ rule, severity, consequence }) => [rule, severity, consequence]),
        null,
        1,
      ),
      JSON.stringify(document.unknowns.map(({ rule, reason }) => [rule, reason])),
    )
}
