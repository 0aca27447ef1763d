/** The answer of a gate for a terminal or a log. */
import { type GateDocument, type GateGroup, type GateProblem, gateEffects } from '#model/gate.ts'
import { plural } from '#report/text.ts'
import {
  byEffect,
  type Effect,
  fileText,
  labelOf,
  pathOf,
  placeOf,
  placesOf,
  scopeOf,
  sentenceOf,
  settingText,
  shownSettings,
  verdictText,
} from './words.ts'

/** @param heading styles a heading */
export function gateText(document: GateDocument, heading: (text: string) => string) {
  const { files, groups, problems } = document
  const stops = problems.filter(problem => problem.stops)
  const others = problems.filter(problem => !problem.stops)
  const lines = [
    heading(`${verdictText(document)} (${scopeOf(document)})`),
    '',
    ...files.map(file => `  ${fileText(file)}`),
    ...section(heading('Stops the change'), stops),
    ...section(heading('Also'), others),
    ...(groups.length === 0 ? [] : ['', heading('Groups'), ...groups.flatMap(groupLines)]),
  ]
  return `${lines.join('\n')}\n`
}

const section = (title: string, problems: readonly GateProblem[]) =>
  problems.length === 0 ? [] : ['', title, ...byEffect(problems).flatMap(effectLines)]

function effectLines(effect: Effect) {
  const [first] = effect
  const where = placesOf(effect, 3)
  const label = labelOf(first)
  return [
    `  ${[placeOf(first), label && `[${label}]`, sentenceOf(effect)].filter(Boolean).join(' ')}`,
    ...(where === null ? [] : [`    ${where}`]),
  ]
}

function groupLines(group: GateGroup) {
  const { nodes, imageGcs, evictions, settings } = group
  const more = settings.length - shownSettings
  const effects = gateEffects.filter(effect => group[effect] > 0)
  const shown = [
    ...effects.map(effect => `${group[effect]} ${effect === 'unread' ? 'not judged' : effect}`),
    ...(imageGcs > 0 ? [`image GC at once on ${imageGcs}`] : []),
    ...(evictions > 0 ? [`evictions at once on ${evictions}`] : []),
  ]
  return [
    `  ${pathOf(group)}: ${plural(nodes, 'node')}: ${shown.join(', ')}`,
    ...settings
      .slice(0, shownSettings)
      .map(({ field, values }) => `    ${settingText(field, [values])}`),
    ...(more > 0 ? [`    and ${plural(more, 'more setting')}`] : []),
  ]
}
