/**
 * The policy of container GC: three flags of the command line, which no configuration shows.
 *
 * Replays       cmd/kubelet/app/options/options.go  NewKubeletFlags, AddFlags;  pkg/kubelet/container/container_gc.go NewContainerGC
 * Read at       1.29 to 1.37; alike in all
 * Kept exactly  if a flag is given twice, the last counts; with a negative age the kubelet does not start; negative numbers mean no limit
 * Left out      numbers that are not decimal
 */

import { formatDuration, parseDuration } from '#model/duration.ts'
import { messageOf } from '#model/error-message.ts'
import { goQuote } from '#model/go-text.ts'
import type { ContainerGcPolicy } from './input.ts'

/** The kubelet would not start. `message` is upstream's text, or nearly so. */
class PolicyError extends Error {}

const flags = [
  'minimum-container-ttl-duration',
  'maximum-dead-containers-per-container',
  'maximum-dead-containers',
] as const

type Flag = (typeof flags)[number]

const isFlag = (name: string): name is Flag => flags.some(flag => flag === name)

/** @param commandLine the running kubelet's. @throws PolicyError */
export function containerGcPolicy(commandLine: readonly string[]): ContainerGcPolicy {
  const given = givenFlags(commandLine)
  const age = given.get('minimum-container-ttl-duration')
  const minAgeNs =
    age === undefined ? 0n : parsed('minimum-container-ttl-duration', age, parseDuration)
  if (minAgeNs < 0n)
    throw new PolicyError(`invalid minimum garbage collection age: ${formatDuration(minAgeNs)}`)
  const limit = (flag: Flag, unset: number) => {
    const text = given.get(flag)
    return text === undefined ? unset : parsed(flag, text, parseInt32)
  }
  return {
    minAgeNs,
    maxPerPodContainer: limit('maximum-dead-containers-per-container', 1),
    maxContainers: limit('maximum-dead-containers', -1),
  }
}

/** Accepts `--flag=value` and `--flag value`, with underscores as dashes, up to `--`. */
function givenFlags(commandLine: readonly string[]): Map<Flag, string> {
  const given = new Map<Flag, string>()
  for (let at = 0; at < commandLine.length; at++) {
    const argument = commandLine[at] ?? ''
    if (argument === '--') break
    if (!argument.startsWith('--')) continue
    const [name = '', ...value] = argument.slice(2).split('=')
    const flag = name.replaceAll('_', '-')
    if (!isFlag(flag)) continue
    given.set(flag, value.length > 0 ? value.join('=') : (commandLine[++at] ?? ''))
  }
  return given
}

function parsed<Value>(flag: Flag, text: string, parse: (text: string) => Value): Value {
  try {
    return parse(text)
  } catch (error) {
    const why = messageOf(error)
    throw new PolicyError(
      `invalid argument ${goQuote(text)} for ${goQuote(`--${flag}`)} flag: ${why}`,
    )
  }
}

const maxInt32 = 2 ** 31 - 1

function parseInt32(text: string): number {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(value))
    throw new PolicyError(`strconv.ParseInt: parsing ${goQuote(text)}: invalid syntax`)
  if (value > maxInt32 || value < -maxInt32 - 1)
    throw new PolicyError(`strconv.ParseInt: parsing ${goQuote(text)}: value out of range`)
  return value
}
