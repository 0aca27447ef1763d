/** Prints how well an audit explains each incident: `npm run incidents [NAME]`. With a name it prints the mail, too. */
import { incidents } from './cases/index.ts'
import { judgedIncident } from './judged.ts'
import { type Score, scoreOf } from './scored.ts'

const [wanted] = process.argv.slice(2)
const chosen = incidents.filter(({ name }) => wanted === undefined || name === wanted)
const scores: Score[] = []
for (const incident of chosen) {
  const score = scoreOf(incident, await judgedIncident(incident))
  scores.push(score)
  const marks = (['cause', 'owner', 'step', 'words'] as const)
    .map(part => (score[part] ? part : '-'.repeat(part.length)))
    .join(' ')
  const misleads = score.misleads.length > 0 ? ` MISLEADS ${score.misleads.join(', ')}` : ''
  console.log(`${incident.name.padEnd(34)} ${marks}${misleads}  ${score.says}`)
}
const count = (part: 'cause' | 'owner' | 'step' | 'words') =>
  `${part} ${scores.filter(score => score[part]).length}`
console.log(
  `of ${scores.length}: ${[count('cause'), count('owner'), count('step'), count('words')].join(', ')}, misleading ${scores.filter(({ misleads }) => misleads.length > 0).length}`,
)
if (wanted !== undefined)
  for (const incident of chosen) {
    const { mail, document } = await judgedIncident(incident)
    console.log(mail())
    for (const { severity, rule, consequence } of document.findings)
      console.log(`${severity} ${rule}: ${consequence}`)
  }
