import { promisedSources } from '#model/input/read-mode.ts'
import type { NodeSubject } from './node-subject.ts'

/** Whether the mode reads this of such a node. If it was not read, rules on it are unknown. The documents of SSM run on Linux only. */
export const isExpected = (
  { mode, identity }: Pick<NodeSubject, 'mode' | 'identity'>,
  source: 'host' | 'runtime',
): boolean => identity.operatingSystem === 'linux' && promisedSources[mode].includes(source)
